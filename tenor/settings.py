"""Settings: defaults < `tenor.toml` < environment `TENOR_*` < flags. One section a part.

In the file a setting is `[bus]` / `url = "..."`; in the environment `TENOR_BUS__URL`; on the command
line `--set bus.url=...` or the command's own flag. `tenor config` shows what is in force and why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BusSettings(Section):
    """Where events travel."""

    url: str = Field("", description="sqlite:///path or kafka://host:9092[,host:9092]; empty: bus.db in home")
    partitions: int = Field(12, ge=1, le=1024, description="partitions of topics we create")
    replication: int = Field(1, ge=1, le=9, description="copies of topics we create (Kafka)")
    patience_s: float = Field(60.0, gt=0, description="how long to retry a bus that is away before giving up")
    lease_s: float = Field(10.0, ge=1, description="a silent member of a group loses its partitions after this")
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field("PLAINTEXT", description="Kafka")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field("PLAIN", description="Kafka")
    sasl_user: str = Field("", description="Kafka user")
    sasl_password: SecretStr = Field(SecretStr(""), description="Kafka password")
    ca_file: str = Field("", description="certificate authority for Kafka over TLS")
    cert_file: str = Field("", description="our certificate for Kafka over mutual TLS")
    key_file: str = Field("", description="our key for Kafka over mutual TLS")


class SpeechSettings(Section):
    """The recogniser we call: `tenor riva`, or NVIDIA Riva; only the address changes."""

    address: str = Field("localhost:50051", description="host:port of the Riva server")
    tls: bool = Field(False, description="encrypt; implied by a root certificate")
    root_cert: str = Field("", description="certificate authority of the server, PEM")
    client_cert: str = Field("", description="our certificate for mutual TLS, PEM")
    client_key: str = Field("", description="our key for mutual TLS, PEM")
    metadata: dict[str, str] = Field(
        {}, description='sent with every call, e.g. {"authorization": "Bearer KEY", "function-id": "..."}'
    )
    language: str = Field("en-US", description="language when the call names none")
    model: str = Field("", description="name of the model; empty lets the server choose")
    punctuation: bool = Field(True, description="automatic punctuation and capitals")
    verbatim: bool = Field(True, description="numbers as they were spoken (nine thirty); false: as written (9:30)")
    interim: bool = Field(True, description="publish text while it is being said")
    patient: bool = Field(
        False, description="finals may come minutes later if they are better for it; without interims, our server only"
    )
    boosted: list[str] = Field([], description="words and phrases to expect")
    boost: float = Field(10.0, ge=-100, le=100, description="how strongly to expect them")
    diarization: bool = Field(False, description="tell speakers of a mono channel apart, if the server can")
    stop_history_ms: int = Field(0, ge=0, le=10_000, description="silence that ends an utterance; 0: server's own")
    stop_history_eou_ms: int = Field(0, ge=0, le=10_000, description="first pass end of utterance; 0: off")
    max_utterance_s: float = Field(20.0, ge=5, le=60, description="an utterance is cut here")
    force_final_s: float = Field(1.0, ge=0.2, le=60, description="without audio this long, ask for the final")
    timeout_s: float = Field(30.0, gt=0, description="how long the recogniser may be silent before we reconnect")
    watchdog_s: float = Field(60.0, ge=1, description="a call without audio this long is ended")
    redact: Literal["off", "text", "audio"] = Field("off", description="for calls that do not say")
    redact_queues: dict[str, Literal["off", "text", "audio"]] = Field(
        {}, description='for calls of a queue, e.g. {"payments": "audio"}; the call\'s own wish comes first'
    )
    redact_kinds: list[str] = Field(
        ["card", "account", "phone", "email", "birth_date"],
        description="what to take out when redacting; person and address too, if wanted",
    )


class RivaSettings(Section):
    """Our own CPU server on Riva's API."""

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(50051, ge=0, le=65535, description="gRPC port")
    http_port: int = Field(9000, ge=0, le=65535, description="realtime WebSocket and health port")
    engine: str = Field("whisper-tiny", description="engine when a client names none: whisper-tiny or moonshine-tiny")
    whisper_path: str = Field("", description="folder of another CTranslate2 Whisper model")
    window_s: float = Field(15.0, ge=10, le=30, description="what Whisper looks at: longer is more accurate, and later")
    threads: int = Field(2, ge=1, le=256, description="utterances decoded at once")
    max_streams: int = Field(200, ge=1, le=10_000, description="streams open at once")
    idle_s: float = Field(60.0, gt=0, description="a stream without audio this long is closed")
    voice: Literal["auto", "ttspico", "flite", "espeak-ng", "piper", "none"] = Field(
        "auto", description="who speaks; auto: the first that is installed"
    )
    piper_model: str = Field("", description="voice file for piper")
    api_key: SecretStr = Field(SecretStr(""), description="ask clients for this bearer token")
    cert_file: str = Field("", description="our certificate, PEM: serve TLS")
    key_file: str = Field("", description="our key, PEM")
    client_ca_file: str = Field("", description="accept only clients of this authority (mutual TLS)")


class IngestSettings(Section):
    """Files, folders, microphones."""

    chunk_ms: int = Field(100, ge=20, le=1000, description="length of a piece of audio on the bus")
    roles: list[str] = Field(["caller", "agent"], description="who speaks on each channel")
    site: str = Field("", description="site tag for calls that do not say")
    queue: str = Field("", description="queue tag for calls that do not say")
    record: bool = Field(True, description="whether recordings may be kept")


class GatewaySettings(Section):
    """Telephony platforms that stream calls to us."""

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8400, ge=0, le=65535, description="WebSocket port (Twilio, Genesys, jambonz)")
    audiosocket_port: int = Field(8401, ge=0, le=65535, description="TCP port for Asterisk AudioSocket")
    public_url: str = Field("", description="URL the platform dials, as signed by Twilio; empty: from the request")
    twilio_auth_token: SecretStr = Field(SecretStr(""), description="account token; empty: Twilio is not served")
    twilio_caller_track: Literal["inbound", "outbound"] = Field("inbound", description="track the caller is on")
    genesys_keys: dict[str, SecretStr] = Field({}, description="API key -> client secret (base64)")
    jambonz_token: SecretStr = Field(SecretStr(""), description="bearer or basic password jambonz sends")
    audiosocket_peers: list[str] = Field(["127.0.0.1/32", "::1/128"], description="who may connect")
    insecure: bool = Field(False, description="accept unsigned WebSocket calls (for trying out)")
    max_calls: int = Field(1000, ge=1, description="calls open at once; more are refused")
    resume_s: float = Field(15.0, ge=0, description="how long a dropped call waits for its socket to come back")
    silence_s: float = Field(30.0, gt=0, description="a socket that sends nothing this long is closed")


class LanguageSettings(Section):
    """What sentences mean: the models, what is told apart, and what is watched for."""

    backend: Literal["local", "riva"] = Field("local", description="our models, or the NLP services of speech.address")
    model: str = Field("", description="folder of another model, as `finetune` makes them")
    intents: str = Field("", description="YAML file of intents with examples, in place of ours")
    sentiments: str = Field("", description="YAML file of sentiment labels with examples, in place of ours")
    rules: str = Field("", description="YAML file of rules, in place of ours")
    playbook: str = Field("", description="YAML file of next steps for agents, in place of ours")
    classifiers: dict[str, str] = Field(
        {}, description='further classifiers by name and import path, e.g. {"topic": "ours.topics:Topics"}'
    )
    threads: int = Field(1, ge=1, le=64, description="batches of sentences understood at once")
    webhooks: dict[str, str] = Field({}, description="where rules report to: name -> URL")
    webhook_secret: SecretStr = Field(SecretStr(""), description="signs what is sent to webhooks (HMAC-SHA256)")


class StorageSettings(Section):
    """What is kept, where, and how long. 0 days: for ever."""

    url: str = Field("", description="sqlite:///path or postgresql://user@host/name; empty: tenor.db in home")
    recordings: str = Field("", description="folder or fsspec URL for recordings; empty: recordings in home")
    record: bool = Field(True, description="the switch: false keeps no recording of any call")
    format: Literal["flac", "opus"] = Field("flac", description="of recordings; both sides as channels")
    keep_calls_days: int = Field(0, ge=0, description="calls and all that belongs to them")
    keep_recordings_days: int = Field(0, ge=0, description="recordings, if sooner than their call")
    keep_audit_days: int = Field(0, ge=0, description="the audit trail")


class DashboardSettings(Section):
    """The pages and the HTTP API."""

    host: str = Field("127.0.0.1", description="address to listen on; beyond this machine only with a sign-in")
    port: int = Field(8501, ge=0, le=65535, description="HTTP port")
    sign_in: Literal["none", "local", "oidc"] = Field("none", description="accounts of ours, or OpenID Connect")
    session_hours: float = Field(12.0, gt=0, description="how long a sign-in lasts")
    secret: SecretStr = Field(SecretStr(""), description="signs sessions; empty: made once and kept in home")
    oidc_provider: str = Field("", description="name of the provider in Streamlit's secrets; empty: the only one")
    oidc_account_claim: str = Field("preferred_username", description="claim that names the account")
    oidc_role_claim: str = Field("roles", description="claim that holds the role")
    oidc_roles: dict[str, str] = Field(
        {}, description='value of the claim -> role, e.g. {"cc-leads": "manager"}; nobody else gets in'
    )
    title: str = Field("Tenor", description="name on the pages")
    api_origins: list[str] = Field([], description="sites whose pages may read the API, e.g. https://wall.example")
    api_requests_s: float = Field(50.0, ge=0, description="API requests a second of one account; 0: no limit")


class TelemetrySettings(Section):
    """What we say about ourselves."""

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="least level logged")
    log_format: Literal["auto", "console", "json"] = Field("auto", description="auto: console on a terminal")
    log_words: bool = Field(False, description="allow callers' words in logs")
    metrics_host: str = Field("127.0.0.1", description="address the Prometheus port listens on")
    metrics_port: int = Field(0, ge=0, le=65535, description="Prometheus port; 0: off")
    otlp_endpoint: str = Field("", description="OpenTelemetry collector; empty: no spans")


class Settings(Section):
    home: Path = Field(Path(".tenor"), description="folder for everything we keep")
    bus: BusSettings = BusSettings()
    speech: SpeechSettings = SpeechSettings()
    riva: RivaSettings = RivaSettings()
    ingest: IngestSettings = IngestSettings()
    gateway: GatewaySettings = GatewaySettings()
    language: LanguageSettings = LanguageSettings()
    storage: StorageSettings = StorageSettings()
    dashboard: DashboardSettings = DashboardSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def bus_url(self) -> str:
        return self.bus.url or f"sqlite:///{self.home / 'bus.db'}"

    @property
    def storage_url(self) -> str:
        return self.storage.url or f"sqlite:///{self.home / 'tenor.db'}"

    @property
    def recordings_url(self) -> str:
        return self.storage.recordings or str(self.home / "recordings")
