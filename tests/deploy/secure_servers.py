"""A Kafka with TLS, SASL and rights, and a PostgreSQL with TLS, as a cluster has them; certificates are made here."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy.kafka import broker
from deploy.kafka.broker import Broker
from deploy.postgres.server import SERVICE_USER, Server
from tests.conftest import IMPATIENT, free_port

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
USER, PASSWORD = "tenor", "a pass=word"
TOPICS, GROUPS, ALLOW, LITERAL, PREFIXED = 2, 3, 3, 3, 4
READ, WRITE, CREATE, DESCRIBE = 3, 4, 5, 8
"""Numbers of Kafka's protocol."""
RIGHTS = [
    *((TOPICS, "tenor.", PREFIXED, operation) for operation in (CREATE, DESCRIBE, READ, WRITE)),
    *((GROUPS, "*", LITERAL, operation) for operation in (DESCRIBE, READ)),
]
"""What docs/production.md says that the user of Kafka needs, and no more."""


def make_certificates(folder: Path, server: str) -> None:
    """`SERVER-ca.crt`, and `SERVER.crt` and `SERVER.key` of a server on the loopback address."""
    now = datetime.datetime.now(datetime.UTC)

    def certificate(
        name: str, key: ec.EllipticCurvePrivateKey, issuer: str, signer: ec.EllipticCurvePrivateKey, *, ca: bool
    ) -> x509.Certificate:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        return (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .sign(signer, hashes.SHA256())
        )

    authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    own = certificate(server, key, f"{server} CA", authority, ca=False)
    ca = certificate(f"{server} CA", authority, f"{server} CA", authority, ca=True)
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{server}-ca.crt").write_bytes(ca.public_bytes(pem))
    (folder / f"{server}.crt").write_bytes(own.public_bytes(pem))
    (folder / f"{server}.key").write_bytes(secret)


@contextmanager
def secure_kafka(folder: Path) -> Iterator[int]:
    """The port on which clients with TLS and SASL are served; another is for the broker itself."""
    broker.fetch()
    folder.mkdir()
    make_certificates(folder, "kafka")
    (folder / "keystore.pem").write_text((folder / "kafka.key").read_text() + (folder / "kafka.crt").read_text())
    port, secure, controller = free_port(), free_port(), free_port()
    listeners = f"PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{secure}"
    running = Broker(
        folder / "data",
        port,
        {
            **IMPATIENT,
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": listeners,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(folder / "keystore.pem"),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        },
    )
    running.add_user(USER, PASSWORD)
    try:
        running.start()
        with ThreadPoolExecutor(1) as elsewhere:  # away from the event loop of a test
            elsewhere.submit(asyncio.run, _grant(running.address)).result()
        yield secure
    finally:
        running.kill()


async def _grant(address: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        for kind, name, pattern, operation in RIGHTS:
            request = CreateAclsRequest(kind, name, pattern, f"User:{USER}", "*", operation, ALLOW)
            answer = (await admin._send_to_controller(request)).to_object()
            assert [one["error_code"] for one in answer["creation_responses"]] == [0], answer
    finally:
        await admin.close()


@contextmanager
def secure_postgres(folder: Path) -> Iterator[Server]:
    """It takes nobody without TLS. `folder` must be where the server's own user gets to."""
    make_certificates(folder, "postgres")
    access = folder / "access.conf"
    access.write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
    for path in folder.iterdir():
        shutil.chown(path, SERVICE_USER)
        path.chmod(0o600 if path.suffix == ".key" else 0o644)
    options = {
        "ssl": "on",
        "ssl_cert_file": str(folder / "postgres.crt"),
        "ssl_key_file": str(folder / "postgres.key"),
        "hba_file": str(access),
        "fsync": "off",
    }
    running = Server(folder / "data", free_port(), "s3cret", options)
    try:
        running.start()
        with psycopg.connect(f"{running.url()}?sslmode=require", autocommit=True) as connection:
            connection.execute("CREATE DATABASE tenor")
        yield running
    finally:
        running.kill()
