"""The rules of prompt caches under their names of the last release; they are in ``aggregate.prompt_cache.policy``."""

from aggregate.deprecation import renamed

__getattr__ = renamed(
    __name__,
    {
        "AS_OF": "aggregate.prompt_cache.policy:AS_OF",
        "CacheRules": "aggregate.prompt_cache.policy:CachePolicy",
        "Caching": "aggregate.prompt_cache.policy:CacheLookup",
        "NO_CACHE": "aggregate.prompt_cache.policy:NO_CACHE",
        "known_window": "aggregate.prompt_cache.policy:known_window",
        "rules_for": "aggregate.prompt_cache.policy:policy_for",
    },
)
