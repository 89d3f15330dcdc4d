"""The built site is whole: links lead somewhere, and a browser asks nobody else for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

LOADED = {("link", "href"), ("use", "href"), ("use", "xlink:href"), ("image", "href")}
"""What a browser fetches by itself, beside every ``src``."""
BY_HAND = {"canonical", "next", "prev", "edit", "alternate"}
"""Links of a page's head that are fetched by nobody."""
OF_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?([^\"')\s]+)")


class Page(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link" and given.get("rel") in BY_HAND:
            return
        for name, value in given.items():
            if name in ("src", "srcset") or (tag, name) in LOADED:
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)
            elif name == "style":
                self.loaded += OF_STYLES.findall(value)


@cache
def page_of(path: Path) -> Page:
    return Page(path.read_text("utf-8"))


def mistakes(site: Path) -> Iterator[str]:
    """Yield what a page loads from elsewhere, and what it names that is not there."""
    for path in sorted(site.rglob("*.html")):
        page, name = page_of(path), path.relative_to(site)
        for address in page.loaded:
            if urlsplit(address).scheme not in ("", "data") or address.startswith("//"):
                yield f"{name}: loads {address}"
        if path.name == "404.html":  # its links begin at the root of the site
            continue
        for address in [*page.links, *page.loaded]:
            yield from (f"{name}: {wrong}" for wrong in missing(site, path, address))
    for path in sorted(site.rglob("*.css")):
        for address in OF_STYLES.findall(path.read_text("utf-8")):
            if urlsplit(address).scheme not in ("", "data"):
                yield f"{path.relative_to(site)}: loads {address}"


def missing(site: Path, page: Path, address: str) -> Iterator[str]:
    """Yield what is wrong with an address within the site."""
    parts = urlsplit(address)
    if parts.scheme or address.startswith("//"):
        return
    place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    inside = parts.fragment if place.suffix == ".html" else ""
    if not place.is_relative_to(site.resolve()) or not place.exists():
        yield f"{address}: there is no such file"
    elif inside and unquote(inside) not in page_of(place).anchors:
        yield f"{address}: there is no such place"


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site with mistakes."""
    page_of.cache_clear()
    if found := sorted(set(mistakes(Path(config.site_dir).resolve()))):
        raise PluginError("\n  ".join(["the site is not whole:", *found]))
