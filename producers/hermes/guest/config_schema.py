"""What the host's settings page offers; it is stored in `nextlevel/config.json` of the home."""

from plugins.memory.config_schema import (
    KIND_NUMBER,
    KIND_SELECT,
    ProviderConfigSchema,
    ProviderField,
    ProviderFieldOption,
)

CONFIG_SCHEMA = ProviderConfigSchema(
    name="nextlevel",
    label="Next Level memory",
    fields=(
        ProviderField(
            key="recall_mode",
            label="Recall",
            kind=KIND_SELECT,
            default="hybrid",
            description="Inject what matters before each turn, offer tools to look further, or both.",
            options=(
                ProviderFieldOption("hybrid", "Both"),
                ProviderFieldOption("context", "Injection only"),
                ProviderFieldOption("tools", "Tools only"),
                ProviderFieldOption("observe", "Neither: learn only"),
            ),
            inline=True,
        ),
        ProviderField(
            key="service_url",
            label="Memory service",
            placeholder="http://127.0.0.1:7717",
            description="Where `nextlevel serve` or `nextlevel up` listens.",
            inline=True,
        ),
        ProviderField(
            key="redis_url",
            label="Redis",
            placeholder="redis://host:6379",
            description="Where turns are sent. Empty: `nextlevel relay` on this machine sends them.",
        ),
        ProviderField(
            key="prefetch_ms",
            label="Longest wait for recall (ms)",
            kind=KIND_NUMBER,
            default="95",
            description="Past it the turn goes on without.",
        ),
        ProviderField(
            key="exclude_folders",
            label="Folders not to remember",
            placeholder="~/private, ~/clients",
            description="Nothing said while working in these is kept. Separated by commas.",
        ),
        ProviderField(
            key="exclude_platforms",
            label="Platforms not to remember",
            placeholder="telegram, discord",
            description="Nothing said there is kept. Separated by commas.",
        ),
    ),
)
