"""Nobody gets in who should not: other names, other pages, other sizes, other passwords, other addresses."""

from __future__ import annotations

import http.server
import ipaddress
import re
import threading
from collections.abc import Iterator
from urllib.error import HTTPError

import pytest

from skilloscope.core.errors import InputError
from skilloscope.web.app import STATIC, ServeOptions, create_app
from skilloscope.web.safe_fetch import checked_opener, is_public, public_addresses
from skilloscope.web.safety import MOST_GUESSES, Safety, allowed_hosts, kept_secret
from web.conftest import HOSTILE, START, Filled

ANYTHING = {"X-Skilloscope": "1"}


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "[::1].evil", "a b"]
)
def test_a_name_that_is_not_ours_is_refused(filled: Filled, host):
    reply = filled.client().get("/", headers={"Host": host})
    assert reply.status_code == 421
    assert "skilloscope" not in reply.headers.get("set-cookie", "x")[:0]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000", "LOCALHOST"])
def test_the_names_of_this_machine_are_ours(filled: Filled, host):
    assert filled.client().get("/", headers={"Host": host}).status_code == 200


def test_a_club_may_name_its_server():
    hosts = allowed_hosts("0.0.0.0", ["chess.club.example"])
    assert "chess.club.example" in hosts
    assert "0.0.0.0" not in hosts


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://localhost:81"},
    ],
)
def test_a_page_of_another_site_changes_nothing(filled: Filled, headers):
    before = filled.jobs.counts()
    client = filled.client()
    assert client.post("/api/jobs", content="1. e4", headers={**ANYTHING, **headers}).status_code == 403
    assert client.post("/upload", data={"text": "1. e4"}, headers=headers).status_code == 403
    assert filled.jobs.counts() == before


def test_a_form_needs_the_token_of_its_own_visitor(filled: Filled):
    one, two = filled.client(), filled.client()
    token = re.search(r'name="csrf" value="(\w+)"', one.get("/").text)[1]
    two.get("/")
    assert one.post("/upload", data={"text": " "}).status_code == 403
    assert two.post("/upload", data={"text": " ", "csrf": token}).status_code == 403
    assert two.post("/upload", data={"text": " ", "csrf": "é"}).status_code == 403
    assert one.post("/upload", data={"text": " ", "csrf": token}).status_code == 422  # empty, but from our form
    assert one.post("/api/jobs", content="1. e4").status_code == 403
    assert one.delete(f"/api/jobs/{filled.done['games'].id}").status_code == 403


def test_every_reply_carries_the_policy_and_no_page_has_a_script_or_a_style_inside(filled: Filled):
    client, job = filled.client(), filled.done["games"].id
    for path in ("/", "/nowhere", "/live", f"/jobs/{job}", f"/jobs/{job}/games/1", "/api/about", "/static/app.js"):
        reply = client.get(path)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        if reply.headers["content-type"].startswith("text/html"):
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=[\"']|javascript:", reply.text)
            assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", reply.text)


def test_nothing_is_loaded_from_elsewhere():
    for file in STATIC.rglob("*"):
        if file.suffix in (".js", ".css") and file.is_file():
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"""(?:@import|url\(|import\(?|from)\s*["'(]?(?:https?:)?//""", text), file


def test_a_large_upload_is_refused_whether_it_says_its_size_or_not(filled: Filled):
    app = create_app(filled.jobs, Safety(b"x", most_bytes=1000))
    client = Filled(app, filled.jobs, filled.safety, {}).client()
    before = filled.jobs.counts()
    assert client.post("/api/jobs", content=b"x" * 2000, headers=ANYTHING).status_code == 413
    pieces = (b"x" * 300 for _ in range(9))
    assert client.post("/api/jobs", content=pieces, headers=ANYTHING).status_code == 413
    assert filled.jobs.counts() == before


def test_jobs_of_others_are_not_listed(filled: Filled):
    client = filled.client()
    assert client.get("/api/jobs").json() == {"jobs": []}
    assert filled.done["games"].id not in client.get("/").text
    assert client.get("/api/jobs/" + "x" * 22).status_code == 404


def test_an_unforeseen_fault_tells_nothing_of_itself(filled: Filled, monkeypatch):
    def broken(*_args, **_more):
        raise RuntimeError("/home/secret")

    monkeypatch.setattr("skilloscope.web.api.moves_study", broken)
    reply = filled.client().get("/api/moves", params={"fen": START})
    assert reply.status_code == 500
    assert "secret" not in reply.text
    assert "content-security-policy" in reply.headers


def test_a_password_is_asked_for_everywhere(filled: Filled):
    app = create_app(filled.jobs, Safety(b"x", password="correct horse"))
    closed = Filled(app, filled.jobs, filled.safety, {})
    client, job = closed.client(follow_redirects=False), filled.done["games"].id
    for path in ("/", "/results", f"/jobs/{job}", f"/jobs/{job}/events", "/board.svg?fen=x", "/openapi.json"):
        assert client.get(path).headers.get("location") == "/login", path
    assert client.get(f"/api/jobs/{job}/ratings").status_code == 401
    assert client.post("/upload", data={"text": "1. e4"}).status_code == 401
    page = client.get("/login").text
    token = re.search(r'name="csrf" value="(\w+)"', page)[1]
    assert client.post("/login", data={"csrf": token, "password": "wrong"}).status_code == 403
    assert client.get("/").status_code == 303
    assert client.post("/login", data={"csrf": token, "password": "correct horse"}).status_code == 303
    assert client.get(f"/jobs/{job}").status_code == 200
    script = closed.client(follow_redirects=False)
    assert script.get("/api/about", headers={"Authorization": "Bearer correct horse"}).status_code == 200
    assert script.get("/api/about", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_passwords_cannot_be_tried_one_after_another():
    safety = Safety(b"x", password="correct horse")
    for _ in range(MOST_GUESSES):
        assert not safety.accepts("guess")
    with pytest.raises(Exception, match="too many"):
        safety.accepts("correct horse")


def test_a_session_is_of_one_visitor_and_one_server():
    old, new = Safety(b"x", password="first one"), Safety(b"x", password="second one")
    session = old.let_in("v")
    assert old.is_in("v", session, "")
    assert not new.is_in("v", session, "")
    assert not old.is_in("another", session, "")


def test_a_server_that_others_can_reach_needs_a_password(tmp_path):
    with pytest.raises(InputError, match="no password"):
        ServeOptions(tmp_path, host="0.0.0.0")
    assert ServeOptions(tmp_path, host="0.0.0.0", password="correct horse").password


def test_the_secret_is_kept_and_readable_by_its_user_alone(tmp_path):
    secret = kept_secret(tmp_path)
    assert kept_secret(tmp_path) == secret
    assert len(secret) == 32
    assert (tmp_path / "web.secret").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "172.16.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "::1", "::", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1",
     "::127.0.0.1", "::7f00:1", "fec0::1", "64:ff9b:1::a00:1", "192.0.0.192", "::ffff:0:127.0.0.1"],
)  # fmt: skip
def test_addresses_of_the_house_are_not_public(address):
    assert not is_public(address)
    with pytest.raises(ValueError, match="not followed"):
        public_addresses(address, 80)
    assert public_addresses(address, 80, private=True)


# The special-purpose address registries of IANA (RFC 6890 and its updates); what they name is a network of its own.
REGISTRIES = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128",
    "::ffff:0:0/104", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32",
    "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
]  # fmt: skip


@pytest.mark.parametrize("block", REGISTRIES)
def test_no_address_of_a_special_purpose_registry_is_public(block: str):
    network = ipaddress.ip_network(block)
    size = network.num_addresses
    for at in {0, 1, size // 3, size // 2, size - 1} & {*range(min(size, 9)), size // 3, size // 2, size - 1}:
        assert not is_public(str(network[at])), network[at]


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:1.1.1.1"]
)
def test_addresses_of_the_web_are_public(address: str):
    assert is_public(address)


class _Sends(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        where = {"/file": "file:///etc/passwd", "/loop": "/loop", "/on": "/here"}.get(self.path)
        self.send_response(302 if where else 200)
        if where:
            self.send_header("Location", where)
        self.end_headers()
        if not where:
            self.wfile.write(b"pgn")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def house() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Sends)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_feeds_lead_out_of_the_house_or_nowhere(house):
    with pytest.raises((ValueError, OSError), match="not followed"):
        checked_opener().open(f"{house}/here", timeout=60)
    with pytest.raises((ValueError, OSError), match="not followed"):
        checked_opener().open(house.replace("127.0.0.1", "localhost"), timeout=60)
    allowed = checked_opener(private=True)
    with allowed.open(f"{house}/on", timeout=60) as reply:
        assert reply.read() == b"pgn"
    for path in ("file", "loop"):
        with pytest.raises(HTTPError, match=r"not allowed|infinite loop") as refused:
            allowed.open(f"{house}/{path}", timeout=60)
        refused.value.close()
    for scheme in ("file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"):
        with pytest.raises(OSError, match="unknown url type"):
            allowed.open(scheme, timeout=60)


def test_hostile_names_are_only_ever_text(filled: Filled):
    client, job = filled.client(), filled.done["games"].id
    numbers = {row["player"]: row["number"] for row in client.get(f"/api/jobs/{job}/ratings").json()["players"]}
    pages = ["", "/event", "/compare", "/games/5", "/games/6", *(f"/players/{number}" for number in numbers.values())]
    paths = [f"/jobs/{job}{page}" for page in pages] + [f"/jobs/{job}/table?search=%3Cscript%3E&sort=%22%3E%3Cb"]
    results = filled.done["results"].id
    board = client.get(f"/api/jobs/{results}/results").json()["players"]
    paths += [f"/jobs/{results}", *(f"/jobs/{results}/members/{row['place']}" for row in board)]
    paths += [f"/jobs/{filled.done['decisions'].id}", f"/jobs/{filled.done['live'].id}"]
    texts = {path: client.get(path).text for path in paths}
    for path, text in texts.items():
        assert client.get(path).status_code == 200, path
        assert "<img src=x" not in text, path
        assert "<script>" not in text, path
        assert not {"\u202e", "\x1b", "\x07"} & set(text), path
        assert "<b>May" not in text, path
        assert "49" not in re.findall(r"<bdi>(.*?)</bdi>", text), path
    assert {HOSTILE[0], HOSTILE[2]} <= set(numbers)
    assert {HOSTILE[0]} <= {row["player"] for row in board}
    for path in (f"/jobs/{job}/event", f"/jobs/{results}", paths[-2], paths[-1]):
        assert "&lt;img src=x onerror=alert(1)&gt;" in texts[path], path
