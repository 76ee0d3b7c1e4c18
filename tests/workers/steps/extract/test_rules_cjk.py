"""Chinese and Japanese, which part no words: what is asked for, names, numbers, rules and deadlines."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from nextlevel.model import Turn
from nextlevel.workers.steps.extract import Extraction, extract

AT = datetime.fromisoformat("2026-05-12T09:00:00+09:00")


def _extract(text: str) -> Extraction:
    return extract(Turn("i:1", "s", 1, AT, text, "", (), {"project": {"name": "kanban"}}), ())


@pytest.mark.parametrize(
    ("text", "predicate", "value"),
    [
        ("后端的端口是8080", "runs_on_port", "8080"),
        ("端口昨天改成9090了", "runs_on_port", "9090"),
        ("服务器地址是 10.0.0.4", "has_address", "10.0.0.4"),
        ("数据库用的是 Postgres 16", "uses_database", "Postgres 16"),
        ("API 部署在 maple-2 上", "on_host", "maple-2"),
        ("我叫王芳", "is_called", "王芳"),
        ("测试环境在 10.0.0.9", "has_address", "10.0.0.9"),
        ("后端用 Go 1.23,数据库 MySQL 8", "uses_database", "MySQL 8"),
        ("APIはポート8080で動いています", "runs_on_port", "8080"),
        ("サーバーのIPは10.0.0.4です", "has_address", "10.0.0.4"),
        ("データベースはPostgres 16です", "uses_database", "Postgres 16"),
        ("APIはmaple-2で動いています", "on_host", "maple-2"),
    ],
)
def test_a_slot_gets_its_bare_value(text: str, predicate: str, value: str) -> None:
    assert (predicate, value) in [(c.predicate, c.value) for c in _extract(text).candidates]


@pytest.mark.parametrize(
    ("text", "piece", "negated"),
    [
        ("不要用表格", "表格", True),
        ("我喜欢短一点的回答", "短一点的回答", False),
        ("請用中文回答", "中文", False),
        ("表は使わないでください", "表", True),
        ("コメントは英語で書いてください", "英語", False),
    ],
)
def test_a_rule_keeps_its_sign(text: str, piece: str, negated: bool) -> None:
    (candidate,) = _extract(text).candidates
    assert ("user", negated) == (candidate.subject, candidate.negated)
    assert piece in candidate.object


@pytest.mark.parametrize("text", ["截止日期是6月3日", "締め切りは6月3日です"])
def test_a_deadline_ends_on_its_day(text: str) -> None:
    candidate = next(c for c in _extract(text).candidates if c.predicate == "deadline")
    assert candidate.valid_to is not None
    assert date(2026, 6, 3) == candidate.valid_to.date()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("你好！", "chitchat"),
        ("端口是多少？", "question"),
        ("如果我们用 Kafka 就好了", "hypothetical"),
        ("帮我看一下日志", "one_off"),
        ("おはようございます！", "chitchat"),
        ("ポートは何番ですか？", "question"),
        ("もしKafkaを使ったら速いかもしれない", "hypothetical"),
        ("ログを見せてください", "one_off"),
    ],
)
def test_what_is_not_to_be_kept_is_dropped_with_its_reason(text: str, why: str) -> None:
    found = _extract(text)
    assert () == found.candidates
    assert why in [dropped.why for dropped in found.dropped]


@pytest.mark.parametrize("text", ["记住：仓库的钥匙在王芳那里", "覚えておいて：倉庫の鍵は王さんが持っています"])
def test_what_the_user_asks_to_remember_is_kept(text: str) -> None:
    """Where no pattern understands it, it is kept as said."""
    found = _extract(text).candidates
    assert found
    assert all(each.explicit for each in found)


def test_an_allergy_is_that_of_the_person_named() -> None:
    found = [(each.subject, each.object) for each in _extract("我女儿叫小满，对花生过敏").candidates]
    assert ("小满", "对花生过敏") in found
