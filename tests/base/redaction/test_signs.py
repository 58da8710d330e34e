"""What is looked for before any rule is tried: no rule may find what the signs have not told of."""

from hypothesis import HealthCheck, given, settings, strategies as st

from aggregate.base.redaction import scan
from aggregate.base.redaction.rules import RULES

_MATCHES = [(place, st.from_regex(rule.pattern)) for place, rule in enumerate(RULES)]


@settings(max_examples=1500, suppress_health_check=[*HealthCheck], deadline=None)
@given(st.sampled_from(_MATCHES).flatmap(lambda rule: st.tuples(st.just(rule[0]), rule[1])))
def test_what_a_rule_finds_has_its_sign(made: tuple[int, str]) -> None:
    """In a text that a rule's pattern matches, the passes name that rule."""
    place, text = made
    data = text.encode("utf-8", "surrogatepass")
    if not scan._pattern(place).search(data):
        return  # Python's classes hold more than RE2's
    told = {
        index
        for match, rules_of in scan._passes()
        for sign in match(data) or ()
        for index in rules_of[sign]
    }
    assert place in told, RULES[place].id
