"""Settings: defaults < `tenor.toml` < environment `TENOR_*` < flags. One section per part of Tenor.

In the file a setting is `[bus]` / `url = "..."`; in the environment `TENOR_BUS__URL`; on the command
line `--set bus.url=...` or the command's own flag. `tenor config` shows what is in force and why, and
docs/settings.md, which `make docs` makes from the descriptions below, lists everything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BusSettings(Section):
    """The bus that carries events between the stages."""

    url: str = Field(
        "", description="sqlite:///path or kafka://host:9092[,host:9092]; empty means bus.db in the home folder"
    )
    partitions: int = Field(12, ge=1, le=1024, description="how many partitions a topic gets when Tenor creates it")
    replication: int = Field(
        1, ge=1, le=9, description="how many copies of each partition Kafka keeps, for topics that Tenor creates"
    )
    patience_s: float = Field(
        60.0, gt=0, description="how long to retry when the bus does not answer, before the process gives up"
    )
    lease_s: float = Field(
        10.0, ge=1, description="a worker that has not been heard from for this long loses its partitions to the others"
    )
    security: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="how connections to Kafka are secured"
    )
    trusted_network: bool = Field(
        False,
        description="whether nobody else can listen between Tenor and Kafka; a remote Kafka without TLS is otherwise "
        "refused where anything is redacted",
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "PLAIN", description="how Tenor signs in to Kafka, with SASL_PLAINTEXT or SASL_SSL"
    )
    sasl_user: str = Field("", description="user name for Kafka")
    sasl_password: SecretStr = Field(SecretStr(""), description="password for Kafka")
    ca_file: str = Field("", description="certificate authority that signed the brokers' certificates, PEM")
    cert_file: str = Field("", description="Tenor's own certificate for Kafka with mutual TLS, PEM")
    key_file: str = Field("", description="the key of that certificate, PEM")


class SpeechSettings(Section):
    """The recogniser that the speech stage calls: `tenor riva` or NVIDIA Riva. Only the address changes."""

    address: str = Field("localhost:50051", description="host:port of the Riva server")
    tls: bool = Field(False, description="encrypt the connection; a root certificate implies it")
    root_cert: str = Field("", description="certificate authority that signed the server's certificate, PEM")
    client_cert: str = Field("", description="Tenor's own certificate for mutual TLS, PEM")
    client_key: str = Field("", description="the key of that certificate, PEM")
    metadata: dict[str, str] = Field(
        {},
        description='gRPC metadata sent with every request, e.g. {"authorization": "Bearer KEY", "function-id": "..."}',
    )
    language: str = Field("en-US", description="language of calls that do not name one")
    model: str = Field("", description="name of the recognition model; empty lets the server choose")
    punctuation: bool = Field(True, description="write punctuation and capital letters")
    verbatim: bool = Field(
        True, description="write numbers as they were spoken (nine thirty); false writes digits (9:30)"
    )
    mode: Literal["streaming", "offline"] = Field(
        "streaming",
        description="streaming recognises while people speak; offline sends each side of a call as a whole when it is "
        "over (Riva's Recognize)",
    )
    interim: bool = Field(True, description="publish interim text while people are still speaking")
    voice: str = Field(
        "", description="name of the voice in which the assistant speaks on the telephone; empty lets the server choose"
    )
    patient: bool = Field(
        False,
        description="let finals come minutes later, for fewer errors; without interims, and with `tenor riva` only",
    )
    boosted: list[str] = Field([], description="words and phrases that the recogniser should expect")
    boost: float = Field(10.0, ge=-100, le=100, description="how strongly it should expect them")
    vocabulary: dict[str, list[str]] = Field(
        {},
        description="what is said in your house, by queue, or by * for all: names, products, places, and whole "
        'sentences with their full stop, e.g. {"*": ["Harper Valley", "How can I help you?"]}; the recogniser is told '
        "before it decodes",
    )
    diarization: bool = Field(
        False, description="ask for speakers although the server does not say that it can tell them apart"
    )
    stop_history_ms: int = Field(
        0, ge=0, le=10_000, description="how much silence ends an utterance; 0 leaves it to the server"
    )
    stop_history_eou_ms: int = Field(
        0, ge=0, le=10_000, description="how much silence triggers the server's first-pass result; 0 is off"
    )
    max_utterance_s: float = Field(20.0, ge=5, le=60, description="an utterance that is longer than this is cut")
    force_final_s: float = Field(
        1.0, ge=0.2, le=60, description="when no audio has come for this long, ask the recogniser for the final"
    )
    timeout_s: float = Field(
        30.0, gt=0, description="how long the recogniser may stay silent before Tenor connects again"
    )
    watchdog_s: float = Field(60.0, ge=1, description="a call that has had no audio for this long is ended")
    redact: Literal["off", "text", "audio"] = Field(
        "off", description="what to redact in calls for which neither the call nor its queue says"
    )
    redact_queues: dict[str, Literal["off", "text", "audio"]] = Field(
        {}, description='what to redact by queue, e.g. {"payments": "audio"}; what the call itself says comes first'
    )
    redact_kinds: list[str] = Field(
        ["card", "account", "phone", "email", "birth_date"],
        description="which kinds of data redaction takes out; person, address and number can be added",
    )
    redact_threshold: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="how probable a word must be part of a name or an address to be redacted: lower redacts more; "
        "0 takes what the model was measured with",
    )
    redact_thresholds: dict[Literal["text", "audio"], Annotated[float, Field(gt=0, lt=1)]] = Field(
        {},
        description='the same for calls of one mode, e.g. {"audio": 0.2}, where such calls must lose more; '
        "`tenor evaluate privacy` says what that costs",
    )


class RivaSettings(Section):
    """Tenor's own recognition server (`tenor riva`), which speaks Riva's API and runs on the CPU."""

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(50051, ge=0, le=65535, description="gRPC port")
    http_port: int = Field(9000, ge=0, le=65535, description="port of the realtime WebSocket and of the health check")
    engine: str = Field(
        "",
        description="engine for clients that do not name a model: whisper-tiny, moonshine-tiny or whisper-telephone; "
        "empty takes whisper-telephone for 8 kHz audio, and whisper-tiny otherwise",
    )
    whisper_path: str = Field("", description="folder of another Whisper model in CTranslate2's format")
    ctc_path: str = Field(
        "", description="folder of a CTC model as the recipe nemo makes it, which is used instead of Whisper"
    )
    window_s: float = Field(
        15.0, ge=10, le=30, description="how many seconds Whisper looks at at once; more is more accurate and slower"
    )
    threads: int = Field(2, ge=1, le=256, description="how many utterances are decoded at the same time")
    max_streams: int = Field(
        200, ge=1, le=10_000, description="how many streams may be open at the same time; further ones are refused"
    )
    request_memory_mb: int = Field(
        1024,
        ge=256,
        description="memory that requests may take before they are served: whole recordings wait for their turn, and "
        "where it runs out, what is slow to arrive is refused",
    )
    idle_s: float = Field(60.0, gt=0, description="a stream that has had no audio for this long is closed")
    voice: Literal["auto", "ttspico", "flite", "espeak-ng", "piper", "none"] = Field(
        "auto", description="voice for speech output; auto takes the first that is installed"
    )
    piper_model: str = Field("", description="voice file for Piper")
    aliases: list[str] = Field(
        [
            "parakeet-1.1b-en-US-asr-streaming-silero-vad-sortformer",
            "Magpie-Multilingual.EN-US.Leo",
            "Magpie-Multilingual.EN-US.Aria",
        ],
        description="names of NVIDIA's models and voices that clients ask for by default: ours answer to them",
    )
    api_key: SecretStr = Field(SecretStr(""), description="bearer token that clients must send; empty asks for none")
    cert_file: str = Field("", description="the server's certificate, PEM; with it the server speaks TLS")
    key_file: str = Field("", description="the key of that certificate, PEM")
    client_ca_file: str = Field(
        "", description="certificate authority that must have signed the clients' certificates (mutual TLS)"
    )

    @property
    def recognizer_path(self) -> str:
        """The folder that a setting names, whichever engine it is for."""
        return self.ctc_path or self.whisper_path


class IngestSettings(Section):
    """How recordings, folders and microphones become calls."""

    chunk_ms: int = Field(100, ge=20, le=1000, description="length of one audio chunk on the bus")
    roles: list[str] = Field(["caller", "agent"], description="who speaks on each channel")
    speakers: int = Field(
        2, ge=1, le=2, description="people on a single channel: 2 are told apart by their voices, 1 is the first role"
    )
    site: str = Field("", description="site of calls that do not name one")
    queue: str = Field("", description="queue of calls that do not name one")
    record: bool = Field(True, description="whether recordings of ingested calls may be kept")


class GatewaySettings(Section):
    """The gateway that telephony platforms stream their calls to."""

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8400, ge=0, le=65535, description="WebSocket port (Twilio, Genesys, jambonz)")
    audiosocket_port: int = Field(8401, ge=0, le=65535, description="TCP port for Asterisk AudioSocket")
    public_url: str = Field(
        "",
        description="address that the platforms dial and Twilio signs; empty takes it from the request",
    )
    proxies: list[str] = Field(
        [],
        description="addresses or networks of proxies in front of the gateway; only they are believed who connects",
    )
    twilio_auth_token: SecretStr = Field(
        SecretStr(""), description="token of the Twilio account; empty means that Twilio is not served"
    )
    twilio_caller_track: Literal["inbound", "outbound"] = Field(
        "inbound", description="which of Twilio's tracks the caller is on"
    )
    genesys_keys: dict[str, SecretStr] = Field(
        {}, description="client secret (base64) by API key; empty means that Genesys is not served"
    )
    jambonz_token: SecretStr = Field(
        SecretStr(""),
        description="bearer token or basic password that jambonz sends; empty means that jambonz is not served",
    )
    audiosocket_peers: list[str] = Field(
        ["127.0.0.1/32", "::1/128"], description="networks from which AudioSocket connections are accepted"
    )
    insecure: bool = Field(
        False, description="accept WebSocket calls without signature or token, for trying things out"
    )
    max_calls: int = Field(
        1000, ge=1, description="how many calls may be open at the same time; further ones are refused"
    )
    resume_s: float = Field(
        15.0, ge=0, description="how long a call waits for its socket to come back after the connection broke"
    )
    handover_s: float = Field(
        60.0, ge=0, description="how long a call that the assistant handed over waits for the stream with the person"
    )
    return_s: float = Field(
        5.0,
        ge=0,
        description="how long a call waits, after the stream with the person has ended, for the platform to bring the "
        "caller back to the assistant",
    )
    drain_s: float = Field(
        0.0,
        ge=0,
        description="how long a gateway that is told to stop waits for open calls to end, while it refuses new ones",
    )
    silence_s: float = Field(30.0, gt=0, description="a socket that has sent nothing for this long is closed")
    assistant: dict[str, str] = Field(
        {},
        description="the assistant that answers two-way calls, by queue, by platform, or by * for all: "
        '{"orders": "retail"}; what the platform says of the call comes first',
    )


class LanguageSettings(Section):
    """How sentences are understood: models, label sets, rules and webhooks."""

    backend: Literal["local", "riva"] = Field(
        "local", description="local uses the models that come with Tenor, riva the NLP services at language.address"
    )
    address: str = Field(
        "",
        description="host:port of a Riva server for language alone, for which speech.tls, the certificates and "
        "speech.metadata hold as well; empty means speech.address",
    )
    model: str = Field("", description="folder of another language model, as `python -m finetune` makes them")
    voters: list[str] = Field(
        [],
        description="folders of further language models: the sentiment of a sentence is what most of them and the "
        "model in force say; each takes as long as that one",
    )
    intents: str = Field(
        "", description="YAML file of intents with examples, in place of the one that comes with Tenor"
    )
    sentiments: str = Field(
        "", description="YAML file of sentiment labels with examples, in place of the model's labels"
    )
    rules: str = Field("", description="YAML file of rules, in place of the one that comes with Tenor")
    scorecard: str = Field(
        "",
        description="YAML file of the points of scorecards, in place of ours; off: calls get no scorecard",
    )
    playbook: str = Field(
        "", description="YAML file of next steps for agents, in place of the one that comes with Tenor"
    )
    wrap_up: str = Field(
        "", description="YAML file of the codes that say how a call ended, in place of the one that comes with Tenor"
    )
    classifiers: dict[str, str] = Field(
        {"aspect": "nlp.inference.heads.aspects:Aspects"},
        description='further classifiers by name and import path, e.g. {"topic": "ours.topics:Topics"}; {} is none',
    )
    threads: int = Field(1, ge=1, le=64, description="how many batches of sentences are classified at the same time")
    webhooks: dict[str, str] = Field({}, description="URLs that rules may report to, by name")
    summary_webhooks: list[str] = Field(
        [], description="names of language.webhooks that get the summary of each call when it is over"
    )
    summary_url: str = Field(
        "",
        description="address of a language model that writes summaries, too (OpenAI's chat completions, such as "
        "http://localhost:8000/v1); redacted text of whole calls is sent there; empty: nobody is asked",
    )
    summary_model: str = Field("", description="name of that model, as its server calls it")
    summary_key: SecretStr = Field(SecretStr(""), description="key that is sent to language.summary_url")
    summary_timeout_s: float = Field(30.0, gt=0, le=600, description="a summary that takes longer is none")
    webhook_secret: SecretStr = Field(
        SecretStr(""), description="key that signs what is sent to webhooks (HMAC-SHA256)"
    )


class StorageSettings(Section):
    """What is kept, where, and for how many days. 0 days means for ever."""

    url: str = Field(
        "", description="sqlite:///path or postgresql://user@host/name; empty means tenor.db in the home folder"
    )
    recordings: str = Field(
        "", description="folder or fsspec URL for recordings; empty means recordings in the home folder"
    )
    spool: str = Field(
        "", description="folder for raw audio until its recording is made; empty means spool in the home folder"
    )
    record: bool = Field(True, description="whether recordings are kept at all; false keeps none of any call")
    format: Literal["flac", "opus"] = Field("flac", description="file format of recordings; each side is a channel")
    keep_calls_days: int = Field(
        0, ge=0, description="days after which a call and everything that belongs to it is deleted"
    )
    keep_recordings_days: int = Field(
        0, ge=0, description="days after which a recording is deleted, if that is sooner than its call"
    )
    keep_audit_days: int = Field(0, ge=0, description="days after which entries of the audit trail are deleted")


class DashboardSettings(Section):
    """The pages and the HTTP API."""

    host: str = Field("127.0.0.1", description="address to listen on; other machines are served only with a sign-in")
    port: int = Field(8501, ge=0, le=65535, description="HTTP port")
    sign_in: Literal["none", "local", "oidc"] = Field(
        "none", description="how people sign in: not at all, with Tenor's own accounts, or with OpenID Connect"
    )
    session_hours: float = Field(12.0, gt=0, description="how long a sign-in lasts")
    secret: SecretStr = Field(
        SecretStr(""), description="key that signs sessions; empty means that one is made and kept in the home folder"
    )
    oidc_provider: str = Field("", description="name of the provider in Streamlit's secrets; empty takes the only one")
    oidc_account_claim: str = Field("preferred_username", description="OpenID Connect claim that names the account")
    oidc_role_claim: str = Field("roles", description="OpenID Connect claim that holds the role")
    oidc_roles: dict[str, str] = Field(
        {}, description='role by value of that claim, e.g. {"cc-leads": "manager"}; nobody else gets in'
    )
    proxies: list[str] = Field(
        [],
        description="addresses or networks of proxies in front of the dashboard; only they are believed who asks",
    )
    title: str = Field("Tenor", description="name on the pages")
    listen: dict[Literal["manager", "analyst", "administrator"], list[str]] = Field(
        {},
        description="who may listen in on calls that are going on: queues by role, * for all, e.g. "
        '{"manager": ["orders"]}; what is heard is not redacted; empty: nobody',
    )
    api_origins: list[str] = Field([], description="web sites whose pages may read the API, e.g. https://wall.example")
    api_requests_s: float = Field(
        50.0, ge=0, description="API requests per second that one account may make; 0 means no limit"
    )


class ReportSettings(Section):
    """Weekly reports: for whom, when, and where they go."""

    teams: list[str] = Field(
        [], description="teams that the stage `reports` makes a report of, each on its own; empty: one of everybody"
    )
    folder: str = Field("", description="folder in which the stage puts each report; empty: none")
    mail: list[str] = Field([], description="addresses to which the stage mails each report")
    day: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = Field(
        "monday", description="day on which the report of the week before is made"
    )
    hour: int = Field(6, ge=0, le=23, description="hour of that day")
    zone: str = Field("", description="time zone of days and weeks, e.g. Europe/Berlin; empty: this machine's")
    link: str = Field(
        "", description="address of the dashboard for links to calls; empty: http://localhost with dashboard.port"
    )
    smtp_host: str = Field("", description="server that takes mails")
    smtp_port: int = Field(587, ge=1, le=65535, description="its port; 465 is usual with tls")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="how the way to it is encrypted; without encryption, no password is sent"
    )
    smtp_user: str = Field("", description="account there; empty: none")
    smtp_password: SecretStr = Field(SecretStr(""), description="password of that account")
    smtp_from: str = Field("", description="address that mails come from; empty: smtp_user")


ASSISTANT_PHRASES = (
    *("rain", "snow", "humid", "humidity", "temperature", "weather", "sunny", "cloudy", "degrees"),
    *("today", "tomorrow", "tonight", "next week", "this week", "weekend", "right now"),
    *("will it", "is it", "how much", "how warm", "how cold", "do you have", "where is", "where can I", "show me"),
    *("in stock", "in size", "price", "lowest price", "highest price", "cheapest", "best", "highest rated", "nearest"),
    *("closest", "store", "shop", "supermarket", "restaurant", "pharmacy", "near me", "open"),
    *("jeans", "jacket", "shoes", "shirt", "laptop", "milk", "eggs", "bread", "apples", "pasta", "pizza", "sushi"),
    *("New York", "Los Angeles", "Chicago", "Houston", "Phoenix", "Philadelphia", "San Antonio", "San Diego", "Dallas"),
    *("Austin", "Boston", "Seattle", "Denver", "Miami", "Atlanta", "Portland", "San Francisco", "Las Vegas", "Omaha"),
)
"""What shoppers say to the assistant that comes with Tenor,"""
ASSISTANT_SENTENCES = (
    "Will it be cloudy in Cleveland on Monday?",
    "How warm is it in Tucson tonight?",
    "How much is a loaf of bread?",
    "How much are two dozen eggs?",
    "Do you have any oranges in stock?",
    "Do you carry black boots in size eleven?",
    "Is the green sweater available?",
    "How many inches is the television?",
    "How long is the warranty on the dishwasher?",
    "Show me the cheapest cameras.",
    "Find me a good bakery in Memphis.",
    "Where is the nearest hardware store in Cleveland?",
)
"""and how they say it: one sentence of each kind."""


class AssistantSettings(Section):
    """The assistant: its flows, who looks things up for it, and its page for shoppers."""

    flows: str = Field(
        "", description="folder of the assistant's YAML files, in place of the one that comes with Tenor"
    )
    provider: str = Field(
        "sample", description="who carries out the actions that no setting below names: sample, or a declared provider"
    )
    weather: str = Field(
        "", description="who knows the weather: sample, open-meteo, weatherstack or a declared provider"
    )
    places: str = Field("", description="who knows stores and restaurants: sample, yelp or a declared provider")
    prices: str = Field("", description="who knows prices: sample, ebay or a declared provider")
    stock: str = Field("", description="who knows what is in stock: sample or a declared provider")
    product_info: str = Field("", description="who answers questions about products: sample or a declared provider")
    reserve: str = Field("", description="who reserves items: sample or a declared provider")
    providers: str = Field("", description="YAML file that declares providers of your own: SQL databases and HTTP APIs")
    secrets: dict[str, SecretStr] = Field({}, description="passwords and keys that declared providers use, by name")
    timeout_s: float = Field(3.0, gt=0, le=60, description="how long an action may take, if its flow does not say")
    retries: int = Field(2, ge=0, le=10, description="how often an action that changes nothing is tried again")
    open_meteo_url: str = Field("https://api.open-meteo.com", description="address of Open-Meteo's forecasts")
    open_meteo_geocoder_url: str = Field(
        "https://geocoding-api.open-meteo.com", description="address of Open-Meteo's geocoder"
    )
    open_meteo_key: SecretStr = Field(SecretStr(""), description="key for Open-Meteo; commercial use needs one")
    weatherstack_url: str = Field("https://api.weatherstack.com", description="address of WeatherStack")
    weatherstack_key: SecretStr = Field(SecretStr(""), description="access key for WeatherStack")
    yelp_url: str = Field("https://api.yelp.com", description="address of Yelp's Places API")
    yelp_key: SecretStr = Field(SecretStr(""), description="API key for Yelp")
    ebay_url: str = Field("https://api.ebay.com", description="address of eBay's Browse API")
    ebay_client_id: str = Field("", description="client id of your eBay application")
    ebay_client_secret: SecretStr = Field(SecretStr(""), description="client secret of your eBay application")
    title: str = Field("NARA", description="name of the assistant on the page for shoppers")
    origins: list[str] = Field(
        [], description="web sites whose pages may embed the assistant or use its API, e.g. https://shop.example"
    )
    customer_secret: SecretStr = Field(
        SecretStr(""), description="key with which a shop's page signs the id of its customer; empty accepts no ids"
    )
    privacy_url: str = Field("", description="address of your privacy policy, for the notice on the page for shoppers")
    boosted: list[str] = Field(
        [*ASSISTANT_PHRASES, *ASSISTANT_SENTENCES],
        description="words, phrases and sentences that the recogniser should expect in calls that the assistant "
        "answers; the names of the shop's products, kinds of stores and cities are added, unless there are none",
    )
    boost: float = Field(
        5.0,
        ge=0,
        le=100,
        description="how strongly it should expect them; below 6, `tenor riva` only prefers them, and rewrites nothing",
    )
    voice_url: str = Field(
        "",
        description="where browsers reach the gateway, e.g. wss://calls.example.com/browser; empty: "
        "gateway.public_url, or gateway.port on the page's own host; off: the page has no voice",
    )
    session_hours: float = Field(
        12.0, gt=0, le=24, description="for how long a shopper can come back to a conversation on the web"
    )
    idle_minutes: float = Field(
        30.0, gt=0, description="a conversation on the web in which nobody has written for this long is ended"
    )
    sessions_per_hour: int = Field(
        60, ge=0, description="conversations on the web that one visitor may begin per hour; 0 means no limit"
    )
    messages_per_minute: int = Field(
        30, ge=0, description="messages that one visitor of the page may send per minute; 0 means no limit"
    )


class LearnSettings(Section):
    """The learning loop: the archive, its snapshots, datasets, and what is learned from them."""

    url: str = Field(
        "",
        description="folder or fsspec URL of the archive and what is made of it; empty means learn in the home folder",
    )
    audio: bool = Field(True, description="whether the archive also keeps the audio of calls that have a recording")
    worm: bool = Field(
        False,
        description="whether nothing at learn.url can be rewritten (SnapLock, object lock): what a call says is then "
        "encrypted with a key in the database, and erasing the call deletes the key",
    )
    sync: str = Field("", description="folder or fsspec URL of a second place, which gets what is new once a day")
    keep_days: int = Field(
        -1,
        ge=-1,
        description="days after which calls leave the archive and its snapshots; -1 takes storage.keep_calls_days, "
        "0 keeps them for ever",
    )
    experts: list[str] = Field(
        [], description="account names whose label alone settles what a sentence is; otherwise two people must agree"
    )
    cache: str = Field(
        "", description="folder near the computation for datasets in use; empty means learn-cache in the home folder"
    )
    cache_hours: float = Field(24.0, gt=0, description="a dataset in the cache that nobody used for so long is removed")
    ontap_volume: str = Field(
        "",
        description="volume on NetApp ONTAP that holds the archive: ONTAP takes a snapshot of it with every snapshot",
    )
    ontap_svm: str = Field("", description="storage virtual machine of that volume; empty: as NetApp's toolkit has it")
    ontap_keep_days: int = Field(
        30, ge=0, description="days after which ONTAP's snapshots of the volume are deleted; 0 keeps them for ever"
    )
    ontap_cluster: str = Field("", description="host[:port] of the cluster; empty: as NetApp's toolkit has it")
    models: str = Field(
        "",
        description="folder of the models that are promoted, which every worker must reach; empty means models below "
        "learn.url, if that is a folder, or in the home folder with learn.worm",
    )
    recipes: list[str] = Field(
        ["head"], description="how `tenor learn` trains; of several that make one kind of model the best is judged"
    )
    promote: Literal["ask", "auto"] = Field(
        "ask", description="whether `tenor learn` ends at the gate's verdict or puts a model that passed it in force"
    )
    mlflow: str = Field(
        "", description="address of an MLflow server that gets a copy of every run; empty means that none does"
    )
    mlflow_token: SecretStr = Field(SecretStr(""), description="bearer token for that server; empty sends none")
    on_drift: Literal["tell", "learn"] = Field(
        "tell", description="what `tenor serve learn` does about drift: tell only, or start `tenor learn` as well"
    )
    schedule: Literal["never", "daily", "weekly", "monthly"] = Field(
        "never", description="how often `tenor serve learn` starts `tenor learn`, whether anything has drifted or not"
    )


class JobsSettings(Section):
    """Training jobs of several teams: what a machine has to give, and how clusters are asked."""

    capacity: float = Field(
        0.0, ge=0, description="shares that this machine has for jobs; 0 means as many as it has processor cores"
    )
    interactive_minutes: float = Field(
        480.0, ge=0, description="how long an interactive job may run unless it says otherwise; 0 means without end"
    )
    programs: list[str] = Field(
        [], description="programs beside Tenor that interactive jobs may start on this machine, e.g. jupyter"
    )
    image: str = Field("tenor", description="container image that Kubernetes runs jobs in")
    namespace: str = Field("default", description="Kubernetes namespace of jobs")
    volume: str = Field(
        "tenor",
        description="claim of the volume that all pods share; it holds what learn.url names, and is /data there",
    )
    memory: str = Field("4Gi", description="memory that a pod asks for, as Kubernetes writes it")
    gpus: int = Field(0, ge=0, le=64, description="GPUs that a job on a cluster asks for")
    scheduler: Literal["kueue", "kai"] = Field("kueue", description="which scheduler of Kubernetes the queue is of")
    cluster_queue: str = Field(
        "", description="queue of the cluster that jobs go to; empty means the one that has the name of the team"
    )
    slurm_options: list[str] = Field(
        [], description="further options of sbatch, without the leading dashes, e.g. partition=long"
    )


class TelemetrySettings(Section):
    """Logs, metrics and traces."""

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the least important level that is logged"
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto", description="auto means console on a terminal and json elsewhere"
    )
    log_words: bool = Field(False, description="whether logs may contain what people said")
    metrics_host: str = Field("127.0.0.1", description="address that the port for metrics and health listens on")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="port for Prometheus metrics (/metrics) and health (/health/live, /health/ready); 0 means that "
        "there is none",
    )
    otlp_endpoint: str = Field(
        "", description="address of an OpenTelemetry collector; empty means that no spans are sent"
    )


class Settings(Section):
    home: Path = Field(Path(".tenor"), description="folder for everything that Tenor keeps")
    bus: BusSettings = BusSettings()
    speech: SpeechSettings = SpeechSettings()
    riva: RivaSettings = RivaSettings()
    ingest: IngestSettings = IngestSettings()
    gateway: GatewaySettings = GatewaySettings()
    language: LanguageSettings = LanguageSettings()
    storage: StorageSettings = StorageSettings()
    dashboard: DashboardSettings = DashboardSettings()
    report: ReportSettings = ReportSettings()
    assistant: AssistantSettings = AssistantSettings()
    learn: LearnSettings = LearnSettings()
    jobs: JobsSettings = JobsSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def bus_url(self) -> str:
        return self.bus.url or f"sqlite:///{self.home / 'bus.db'}"

    @property
    def storage_url(self) -> str:
        return self.storage.url or f"sqlite:///{self.home / 'tenor.db'}"

    @property
    def language_server(self) -> SpeechSettings:
        """How the Riva server for language is reached."""
        if not self.language.address:
            return self.speech
        return self.speech.model_copy(update={"address": self.language.address})

    @property
    def redacts(self) -> bool:
        """Whether any call is redacted that does not say so itself."""
        return {self.speech.redact, *self.speech.redact_queues.values()} != {"off"}

    @property
    def recordings_url(self) -> str:
        return self.storage.recordings or str(self.home / "recordings")

    @property
    def spool(self) -> Path:
        return Path(self.storage.spool) if self.storage.spool else self.home / "spool"

    @property
    def learn_url(self) -> str:
        return self.learn.url or str(self.home / "learn")

    @property
    def models_folder(self) -> Path | None:
        """Where the registry keeps models and the log of promotions; None: there can be none."""
        if self.learn.models:
            return Path(self.learn.models)
        if self.learn.worm:
            return self.home / "models"
        place = self.learn_url.removeprefix("file://")
        return None if "://" in place else Path(place) / "models"

    @property
    def flow_versions(self) -> Path:
        """The assistant's flows of every version that was in force here: a folder of files and a picture for each."""
        return self.home / "assistant" / "flows"
