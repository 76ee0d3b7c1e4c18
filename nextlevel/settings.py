"""Each setting, read once. Strongest first: flags, environment `NEXTLEVEL_…`, secret files, `nextlevel.toml`, defaults.

Where no DSN is set, the embedded stores that `nextlevel up` started are used: `up` writes their addresses to
`endpoints.json` in the data directory. A DSN that is set always wins.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import platformdirs
from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from .errors import Misconfigured

# Money for a million tokens in and for a million out.
_PRICE = r"^\d+(\.\d+)?/\d+(\.\d+)?$"


class Endpoints(BaseModel):
    """Where a running `nextlevel up` can be reached."""

    pid: int
    postgres_dsn: str
    postgres_admin_dsn: str
    redis_url: str
    service_url: str


def default_data_dir() -> Path:
    # Postgres refuses to run as root, and the user it then runs as can't look into /root.
    if os.geteuid() == 0:
        return Path("/var/lib/nextlevel")
    return Path(platformdirs.user_data_dir("nextlevel"))


def config_file() -> Path:
    """`nextlevel.toml` in the user's configuration directory, or what NEXTLEVEL_CONFIG_FILE names."""
    named = os.environ.get("NEXTLEVEL_CONFIG_FILE")
    return Path(named) if named else Path(platformdirs.user_config_dir("nextlevel")) / "nextlevel.toml"


def secrets_dir() -> Path | None:
    """The directory that NEXTLEVEL_SECRETS_DIR names, if any: it has a file a setting, such as `nextlevel_secret`."""
    named = os.environ.get("NEXTLEVEL_SECRETS_DIR")
    return Path(named) if named else None


class Settings(BaseSettings):
    """A few dozen at most; each with its unit, bounds and the sentence that helps to choose."""

    model_config = SettingsConfigDict(env_prefix="NEXTLEVEL_", env_ignore_empty=True, extra="forbid", frozen=True)

    data_dir: Path = Field(default_factory=default_data_dir, description="Where embedded stores and the secret live.")
    postgres_dsn: str | None = Field(
        default=None, description="The service's Postgres. Unset: the embedded one of this data directory."
    )
    postgres_admin_dsn: str | None = Field(
        default=None,
        description="A role that may create roles and tables; only `migrate` uses it. Default: postgres_dsn.",
    )
    postgres_password: SecretStr | None = Field(
        default=None,
        description="For a postgres_dsn without one. `migrate` gives it to the role nextlevel_service.",
    )
    postgres_admin_password: SecretStr | None = Field(
        default=None, description="For a postgres_admin_dsn without one; only `migrate` uses it."
    )
    redis_url: str | None = Field(
        default=None, description="Redis or Valkey, as redis://, rediss:// or unix://. Unset: the embedded one."
    )
    serve_host: str = Field(default="127.0.0.1", description="Address on which `serve` listens.")
    serve_port: int = Field(default=7717, ge=1, le=65535, description="Port on which `serve` listens.")
    service_url: str | None = Field(
        default=None, description="Where the recall service is reached. Unset: that of the running `nextlevel up`."
    )
    secret: SecretStr | None = Field(
        default=None, description="Signs tokens. Unset: the file `secret` of the data directory, made at first use."
    )
    accept_unenrolled: bool | None = Field(
        default=None,
        description="Take turns of installations nobody enrolled, as the local user. Unset: if Postgres is embedded.",
    )
    homes: str | None = Field(
        default=None,
        description="Homes whose outboxes `relay` delivers, separated as in PATH. Unset: those installed.",
    )
    log_level: str = Field(
        default="info", pattern="^(debug|info|warning|error)$", description="Least level that is logged."
    )
    stage_concurrency: int = Field(
        default=8, ge=1, le=256, description="Jobs of one stage that one worker runs at once."
    )
    lease_s: float = Field(
        default=15,
        ge=1,
        le=30,
        description="How long a stage owns a turn without a heartbeat. A killed worker costs this much.",
    )
    gap_wait_s: float = Field(
        default=30, ge=0, le=600, description="How long a turn waits for an earlier one that is missing."
    )
    recall_deadline_ms: int = Field(
        default=80, ge=5, le=2_000, description="By when the service answers a prefetch with what it has."
    )
    embed_deadline_ms: int = Field(
        default=65,
        ge=1,
        le=2_000,
        description="How long recall waits for the query's vector; past it words and graph answer. "
        "Who asks with a longer deadline has it wait as much longer.",
    )
    embed_base_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible server that embeds, e.g. http://gpu-box.lan:8080/v1. "
        "Unset: each process does it by itself.",
    )
    embed_model: str | None = Field(
        default=None,
        description="The model that embeds: by that server's name, or for sentence-transformers (pip install "
        "'hermes-nextlevel[gpu]'). Unset: the packaged one. After a change, run `nextlevel reembed`.",
    )
    embed_api_key: SecretStr | None = Field(default=None, description="The server's key, where it wants one.")
    embed_query_prefix: str | None = Field(
        default=None, description="What embed_model wants before a question. Unset: `query: ` for E5, else nothing."
    )
    embed_passage_prefix: str | None = Field(
        default=None, description="What it wants before a text to be found. Unset: `passage: ` for E5, else nothing."
    )
    embed_timeout_s: float = Field(
        default=10, ge=0.1, le=300, description="Longest wait for one answer of the server that embeds."
    )
    rerank_base_url: str | None = Field(
        default=None,
        description="A server with a cross-encoder behind /rerank (Cohere, Jina, vLLM or text-embeddings-inference). "
        "It orders what recall gives, if it answers within what is left of the deadline. Unset: none.",
    )
    rerank_model: str | None = Field(default=None, description="The model to ask there, if it has several.")
    rerank_api_key: SecretStr | None = Field(default=None, description="Its key, where the server wants one.")
    recall_tokens: int = Field(default=400, ge=50, le=2_000, description="Most tokens that a prefetch injects.")
    review_below: float = Field(
        default=0.5, ge=0, le=1, description="A block less sure than this goes to review and is not recalled."
    )
    llm: str = Field(
        default="auto",
        pattern="^(auto|off)$",
        description="`auto`: the language model helps to extract, where one is named. `off`: rules alone.",
    )
    llm_base_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible server, e.g. http://localhost:11434/v1 for Ollama. Unset: rules alone.",
    )
    llm_model: str | None = Field(default=None, description="The model to ask there, by the server's own name.")
    llm_api_key: SecretStr | None = Field(default=None, description="Its key, where the server wants one.")
    llm_timeout_s: float = Field(
        default=60, ge=1, le=300, description="Longest wait for one answer of the language model."
    )
    llm_cheaper_model: str | None = Field(
        default=None,
        description="A cheaper model of that server, asked once four fifths of a day's bound are spent. Unset: none.",
    )
    llm_judge_model: str | None = Field(
        default=None,
        description="A model of that server, asked whether two facts are one where the rules can't tell. Costs as "
        "llm_price, or as llm_cheaper_price if it is that model. Unset: the rules alone.",
    )
    llm_tokens_per_day: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000_000,
        description="Tokens, in and out, that one tenant's turns may cost a day (UTC); then the rules read alone. "
        "Unset: no bound.",
    )
    llm_money_per_day: float | None = Field(
        default=None,
        ge=0.01,
        le=1_000_000,
        description="The same bound in money, in the currency of llm_price, which it needs. Unset: no bound.",
    )
    llm_price: str | None = Field(
        default=None, pattern=_PRICE, description="What a million tokens of llm_model cost, in/out, such as 0.15/0.60."
    )
    llm_cheaper_price: str | None = Field(
        default=None, pattern=_PRICE, description="The same for llm_cheaper_model. Unset: as llm_price."
    )
    llm_at_once: int = Field(
        default=8,
        ge=1,
        le=1_000,
        description="Calls that all workers together have in flight. One GPU alone may want 1.",
    )
    llm_per_minute: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Calls that all workers together make a minute. Unset: as many as the server takes; when it says "
        "Retry-After, all wait.",
    )
    hot_scopes: int = Field(
        default=64, ge=1, le=10_000, description="Scopes that `serve` keeps in memory, least used out first."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, *_sources(settings_cls).values())

    @property
    def endpoints_file(self) -> Path:
        return self.data_dir / "endpoints.json"

    @cached_property
    def endpoints(self) -> Endpoints | None:
        """The running `nextlevel up` of this data directory, or None. Read once."""
        try:
            return Endpoints.model_validate_json(self.endpoints_file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise Misconfigured(
                f"{self.endpoints_file} can't be read ({error}); stop `nextlevel up` and start it again"
            ) from error

    @property
    def embedded(self) -> bool:
        return self.postgres_dsn is None

    def need_postgres(self) -> str:
        return with_password(self._need("postgres_dsn", "NEXTLEVEL_POSTGRES_DSN"), self.postgres_password)

    def need_admin(self) -> str:
        if self.postgres_admin_dsn is None and self.postgres_dsn is not None:
            return self.need_postgres()
        dsn = self._need("postgres_admin_dsn", "NEXTLEVEL_POSTGRES_ADMIN_DSN")
        return with_password(dsn, self.postgres_admin_password)

    def need_redis(self) -> str:
        return self._need("redis_url", "NEXTLEVEL_REDIS_URL")

    def need_service(self) -> str:
        return self._need("service_url", "NEXTLEVEL_SERVICE_URL")

    def _need(self, name: str, variable: str) -> str:
        value = getattr(self, name) or getattr(self.endpoints, name, None)
        if value is None:
            raise Misconfigured(f"nothing runs in {self.data_dir}: start `nextlevel up`, or set {variable}")
        return str(value)


def with_password(dsn: str, password: SecretStr | None) -> str:
    """A DSN that logs in with this password, unless it has one of its own.

    >>> with_password("postgresql://app@db/nextlevel", SecretStr("a/b"))
    'postgresql://app:a%2Fb@db/nextlevel'
    """
    parts = urlsplit(dsn)
    user, _, host = parts.netloc.rpartition("@")
    if password is None or ":" in user:
        return dsn
    secret = quote(password.get_secret_value(), safe="")
    return parts._replace(netloc=f"{user}:{secret}@{host}").geturl()


def _sources(settings_cls: type[BaseSettings]) -> dict[str, PydanticBaseSettingsSource]:
    """Where values come from beside the flags, strongest first, by the name that a person is told."""
    found: dict[str, PydanticBaseSettingsSource] = {"environment": EnvSettingsSource(settings_cls)}
    if (directory := secrets_dir()) is not None:
        if not directory.is_dir():
            raise Misconfigured(f"NEXTLEVEL_SECRETS_DIR is {directory}, which is no directory")
        found["secret file"] = SecretsSettingsSource(settings_cls, secrets_dir=directory)
    found["settings file"] = TomlConfigSettingsSource(settings_cls, toml_file=config_file())
    return found


def origins(settings: Settings, *, flags: Collection[str] = ()) -> dict[str, str]:
    """Where each value comes from: `flag`, `environment`, `secret file`, `settings file`, `running up` or `default`.

    `flags` are the settings that were given on the command line.
    """
    given = {"flag": flags} | {name: source() for name, source in _sources(Settings).items()}
    return {
        name: next((at for at, names in given.items() if name in names), _unset(settings, name))
        for name in Settings.model_fields
    }


def _unset(settings: Settings, name: str) -> str:
    told_by_up = getattr(settings, name) is None and getattr(settings.endpoints, name, None) is not None
    return "running up" if told_by_up else "default"


def load(**flags: Any) -> Settings:
    """The settings of this process. `flags` are those given on the command line; None means not given.

    Raises:
        Misconfigured: a value is out of bounds or a name is unknown; the message names it.
    """
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise Misconfigured(f"setting {name}: {first['msg']} (docs/reference/settings.md)") from error
    except (SettingsError, OSError, ValueError) as error:  # what a source can't read: TOML, a secret, rights
        raise Misconfigured(f"the settings can't be read: {error} (the file is {config_file()})") from error
