# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""Charts as SVG, drawn by Altair and vl-convert without a network or a browser; colours follow the page by CSS variables."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import StoreError
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.model import (
    Cell,
    Comparison,
    Summary,
    WorkloadSummary,
)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.table import workload_metric
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.wording import (
    Metric,
    format_value,
    stack_title,
)

__all__ = ["MOST_POINTS", "SERIES", "disk_chart", "drift_chart", "hosts_chart", "strip_chart"]

WIDTH = 420
ROW = 46
# Per stack and chart; of more, evenly chosen ones are drawn (all of them are in the database and the CSV).
MOST_POINTS = 400
SERIES = 8
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
# Colours that no chart would use by itself; in the page each becomes a CSS variable, so that one drawing serves
# light, dark and paper.
_INK, _MUTED, _GRID, _BAND, _PAPER = "#010a01", "#010a02", "#010a03", "#010a04", "#010a05"
_SERIES = tuple(f"#010b{place:02x}" for place in range(SERIES))
_VARIABLES = {
    _INK: "--ink",
    _MUTED: "--muted",
    _GRID: "--grid",
    _BAND: "--band",
    _PAPER: "--paper",
    **{colour: f"--s{place}" for place, colour in enumerate(_SERIES)},
}


def colour_of(place: int) -> str:
    return _SERIES[place % SERIES]


def _area_of(place: int, size: int) -> int:
    """Triangles and diamonds look smaller than they are."""
    return size if SHAPES[place % len(SHAPES)] in ("circle", "square") else int(size * 1.5)


def shape_of(place: int) -> str:
    return SHAPES[place % len(SHAPES)]


def _look(place: int) -> dict[str, t.Any]:
    """Colour, shape and area of a stack's dots."""
    return {"colour": colour_of(place), "shape": shape_of(place), "size": _area_of(place, 48)}


def _altair() -> t.Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"Charts cannot be drawn: the Python library {error.name} is missing on this controller. "
            "Install it with: pip install -r requirements.txt"
        ) from None
    return altair


def _svg(chart: t.Any, height: int, label: str) -> str:
    """The chart as an SVG element that scales with the page; C(label) is read out by screen readers."""
    import vl_convert

    alt = _altair()
    whole = (
        chart.properties(width=WIDTH, height=height, padding={"left": 4, "right": 8, "top": 4, "bottom": 4})
        .configure(font="system-ui, sans-serif", background="transparent")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED,
            titleColor=_MUTED,
            gridColor=_GRID,
            domainColor=_GRID,
            tickColor=_GRID,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
        )
    )
    with alt.data_transformers.disable_max_rows():
        svg = vl_convert.vegalite_to_svg(whole.to_json(validate=False), show_warnings=False)
    return _for_page(svg, label)


def _for_page(svg: str, label: str) -> str:
    def styled(found: re.Match[str]) -> str:
        tag = found.group(0)
        styles = []
        for name, colour in re.findall(r'\s(fill|stroke)="(#[0-9a-f]{6})"', tag):
            if colour in _VARIABLES:
                tag = tag.replace(f' {name}="{colour}"', "", 1)
                styles.append(f"{name}:var({_VARIABLES[colour]})")
        if not styles:
            return tag
        closing = "/>" if tag.endswith("/>") else ">"
        return f'{tag[: -len(closing)].rstrip()} style="{";".join(styles)}"{closing}'

    svg = re.sub(r"<[a-zA-Z][^>]*>", styled, svg[svg.index("<svg") :])
    # The elements' own labels would be read out one dot at a time; the picture as a whole has one.
    svg = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)
    escaped = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return re.sub(
        r'<svg([^>]*?) width="([\d.]+)" height="([\d.]+)"',
        rf'<svg\1 style="max-width:\2px" role="img" aria-label="{escaped}"',
        svg,
        count=1,
    )


def _thin(rows: list[t.Any]) -> list[t.Any]:
    if len(rows) <= MOST_POINTS:
        return rows
    step = (len(rows) - 1) / (MOST_POINTS - 1)
    return [rows[round(place * step)] for place in range(MOST_POINTS)]


def _domain(values: list[float], must_hold: t.Sequence[float] = ()) -> list[float]:
    """The range of an axis with some room at both ends."""
    low, high = min([*values, *must_hold]), max([*values, *must_hold])
    room = (high - low or abs(high) or 1.0) * 0.05
    return [low - room, high + room]


def _jitter(place: int) -> float:
    """A fixed spread of dots across their row, so that the same data give the same picture."""
    return (((place * 7) % 11) / 10 - 0.5) * 0.3


def _rows(alt: t.Any, count: int) -> t.Any:
    return alt.Scale(domain=[count, 0], nice=False, zero=False)


def _labels(alt: t.Any, rows: list[dict[str, t.Any]], y: t.Any, right: str | None) -> list[t.Any]:
    """Name of each row at its left upper edge, figures at the right."""
    base = alt.Chart(alt.Data(values=rows))
    name = base.mark_text(
        align="left", fontSize=12, fontWeight=600, color=_INK, baseline="middle", limit=int(WIDTH * 0.62)
    )
    layers = [name.encode(x=alt.value(0), y=y, text="name:N")]
    if right:
        figures = base.mark_text(align="right", fontSize=11, color=_MUTED, baseline="middle")
        layers.append(figures.encode(x=alt.value(WIDTH), y=y, text=f"{right}:N"))
    return layers


def strip_chart(summary: Summary, workload: WorkloadSummary, label: str) -> str:
    """Every observation as a dot per stack, median and interval, and the margin around the baseline's median as a band."""
    alt = _altair()
    metric = workload_metric(workload)
    names = summary.stack_names()
    cells = [cell for cell in workload.cells if cell.points]
    if not cells:
        return ""
    dots, bars, texts = [], [], []
    for row, cell in enumerate(cells):
        series = names.index(cell.stack)
        texts.append({"y": row + 0.22, "name": stack_title(summary.run, cell.stack), "figures": _figures(cell, metric)})
        bars.append(_bar(cell, metric, row + 0.64, colour_of(series)))
        dots += [
            {
                "x": p.value * metric.factor,
                "y": row + 0.64 + _jitter(i),
                **_look(series),
            }
            for i, p in enumerate(_thin(list(cell.points)))
        ]
    band = _margin_band(summary, workload, metric)
    domain = _domain([d["x"] for d in dots], [v for b in band for v in (b["low"], b["high"])])
    x = _across(alt, domain, f"{metric.noun}, {metric.unit}")
    y = alt.Y("y:Q", scale=_rows(alt, len(cells)), axis=None)
    layers = [*_band_layers(alt, band, x), *_dot_layers(alt, dots, bars, x, y), *_labels(alt, texts, y, "figures")]
    return _svg(alt.layer(*layers), ROW * len(cells), label)


def _figures(cell: Cell, metric: Metric) -> str:
    text = format_value(cell.median, metric)
    if cell.median_interval:
        ends = (format_value(v, metric) for v in (cell.median_interval.low, cell.median_interval.high))
        text += f" [{' ... '.join(ends)}]"
    return text


def _bar(cell: Cell, metric: Metric, y: float, colour: str) -> dict[str, t.Any]:
    middle = (cell.median or 0.0) * metric.factor
    interval = cell.median_interval
    low, high = (interval.low, interval.high) if interval else (cell.median or 0.0, cell.median or 0.0)
    return {"x": middle, "low": low * metric.factor, "high": high * metric.factor, "y": y, "colour": colour}


def _margin_band(summary: Summary, workload: WorkloadSummary, metric: Metric) -> list[dict[str, float]]:
    baseline = next((c for c in workload.cells if c.stack == summary.baseline), None)
    if baseline is None or baseline.median is None:
        return []
    middle = baseline.median * metric.factor
    return [{"low": middle * (1 - summary.margin), "high": middle * (1 + summary.margin), "middle": middle}]


def _band_layers(alt: t.Any, band: list[dict[str, float]], x: t.Callable[[str], t.Any]) -> list[t.Any]:
    base = alt.Chart(alt.Data(values=band))
    return [
        base.mark_rect(color=_BAND).encode(x=x("low"), x2="high:Q"),
        base.mark_rule(color=_MUTED, strokeDash=[3, 3]).encode(x=x("middle")),
    ]


def _across(alt: t.Any, domain: list[float], title: str) -> t.Callable[[str], t.Any]:
    """Makes the horizontal encoding of any field on one common axis."""
    scale = alt.Scale(domain=domain, nice=False, zero=False)
    axis = alt.Axis(title=title, tickCount=6, grid=True, labelFlush=True)
    return lambda field: alt.X(f"{field}:Q", scale=scale, axis=axis)


def _dot_layers(alt: t.Any, dots: list[t.Any], bars: list[t.Any], x: t.Callable[[str], t.Any], y: t.Any) -> list[t.Any]:
    points, middles = alt.Chart(alt.Data(values=dots)), alt.Chart(alt.Data(values=bars))
    colour = alt.Color("colour:N", scale=None)
    shape = alt.Shape("shape:N", scale=None)
    return [
        middles.mark_rule(strokeWidth=7, strokeCap="round", opacity=0.28).encode(
            x=x("low"), x2="high:Q", y=y, color=colour
        ),
        points.mark_point(filled=True, opacity=0.75, stroke=_PAPER, strokeWidth=0.7).encode(
            x=x("x"), y=y, fill=alt.Fill("colour:N", scale=None), shape=shape, size=alt.Size("size:Q", scale=None)
        ),
        middles.mark_tick(orient="vertical", thickness=3, size=22, opacity=1).encode(x=x("x"), y=y, color=colour),
    ]


def drift_chart(summary: Summary, workload: WorkloadSummary, label: str) -> str:
    """Every observation by the time it was taken, in percent of its stack's median."""
    alt = _altair()
    names = summary.stack_names()
    dots: list[dict[str, t.Any]] = [
        {
            "x": p.hours * 60,
            "y": (p.value / cell.median - 1) * 100,
            **_look(names.index(cell.stack)),
        }
        for cell in workload.cells
        if cell.median
        for p in _thin(list(cell.points))
    ]
    if not dots:
        return ""
    margin = summary.margin * 100
    long = max(d["x"] for d in dots) > 300
    for dot in dots:
        dot["x"] = dot["x"] / 60 if long else dot["x"]
    x = _across(alt, _domain([d["x"] for d in dots]), f"{'hours' if long else 'minutes'} since the first run")
    up = alt.Scale(domain=_domain([d["y"] for d in dots], (-margin, margin)), nice=False, zero=False)
    up_axis = alt.Axis(title="% from the stack's median", tickCount=5)
    band = alt.Chart(alt.Data(values=[{"low": -margin, "high": margin}])).mark_rect(color=_BAND)
    points = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, opacity=0.8, stroke=_PAPER, strokeWidth=0.7)
    return _svg(
        alt.layer(
            band.encode(y=alt.Y("low:Q", scale=up, axis=up_axis), y2="high:Q"),
            points.encode(
                x=x("x"),
                y=alt.Y("y:Q", scale=up, axis=up_axis),
                fill=alt.Fill("colour:N", scale=None),
                shape=alt.Shape("shape:N", scale=None),
                size=alt.Size("size:Q", scale=None),
            ),
        ),
        150,
        label,
    )


def disk_chart(summary: Summary, workload: WorkloadSummary, label: str) -> str:
    """The median rate of each disk while a stack was measured, one mark per stack."""
    alt = _altair()
    names = summary.stack_names()
    writes = _mostly_writes(workload)
    rates = [
        (rate.disk, names.index(cell.stack), rate.write_bytes_per_second if writes else rate.read_bytes_per_second)
        for cell in workload.cells
        for rate in cell.disks
    ]
    disks = sorted({disk for disk, _series, value in rates if value})
    if not disks:
        return ""
    shift = {series: 0.16 * (order - (len(names) - 1) / 2) for order, series in enumerate(range(len(names)))}
    dots: list[dict[str, t.Any]] = [
        {
            "x": value / 1e6,
            "y": disks.index(disk) + 0.66 + max(-0.3, min(0.3, shift[series])),
            **_look(series),
        }
        for disk, series, value in rates
        if value
    ]
    texts = [{"y": row + 0.2, "name": disk} for row, disk in enumerate(disks)]
    title = f"{'written to' if writes else 'read from'} each disk, MB/s"
    x = _across(alt, [0, max(d["x"] for d in dots) * 1.05], title)
    y = alt.Y("y:Q", scale=_rows(alt, len(disks)), axis=None)
    points = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, opacity=0.9, stroke=_PAPER, strokeWidth=0.7)
    marks = points.encode(
        x=x("x"),
        y=y,
        fill=alt.Fill("colour:N", scale=None),
        shape=alt.Shape("shape:N", scale=None),
        size=alt.Size("size:Q", scale=None),
    )
    return _svg(alt.layer(marks, *_labels(alt, texts, y, None)), 40 * len(disks), label)


def _mostly_writes(workload: WorkloadSummary) -> bool:
    rates = [rate for cell in workload.cells for rate in cell.disks]
    read = sum(rate.read_bytes_per_second or 0 for rate in rates)
    return sum(rate.write_bytes_per_second or 0 for rate in rates) > read


def _host_ratios(summary: Summary, name: str, stack: str) -> list[Comparison]:
    """The comparisons of one stack under one workload that have a ratio, by host."""
    cells = [c for h in summary.hosts for w in h.workloads if w.name == name for c in w.cells if c.stack == stack]
    return [c.comparison for c in cells if c.comparison is not None and c.comparison.ratio is not None]


def hosts_chart(summary: Summary, name: str, label: str) -> str:
    """For several hosts: the ratio to the baseline of each host as a dot with its interval, one row per stack."""
    alt = _altair()
    names = [stack for stack in summary.stack_names() if stack != summary.baseline]
    dots: list[dict[str, t.Any]] = []
    bars: list[dict[str, t.Any]] = []
    for row, stack in enumerate(names):
        series = summary.stack_names().index(stack)
        shown = _thin(_host_ratios(summary, name, stack))
        for place, comparison in enumerate(shown):
            y = row + 0.4 + 0.5 * (place + 0.5) / len(shown)
            ratio, interval = comparison.ratio, comparison.ratio_interval
            dots.append({"x": ratio, "y": y, **_look(series)})
            ends = (interval.low, interval.high) if interval else (ratio, ratio)
            bars.append({"low": ends[0], "high": ends[1], "y": y, "colour": colour_of(series)})
    if not dots:
        return ""
    band = [{"low": 1 - summary.margin, "high": 1 + summary.margin, "middle": 1.0}]
    domain = _domain([v for b in bars for v in (b["low"], b["high"])], (band[0]["low"], band[0]["high"]))
    title = f"ratio to {stack_title(summary.run, summary.baseline)}, one dot per host"
    x = _across(alt, domain, title)
    y = alt.Y("y:Q", scale=_rows(alt, len(names)), axis=None)
    texts = [{"y": row + 0.2, "name": stack_title(summary.run, stack)} for row, stack in enumerate(names)]
    rules = alt.Chart(alt.Data(values=bars)).mark_rule(strokeWidth=2, opacity=0.5)
    points = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, opacity=0.9, stroke=_PAPER, strokeWidth=0.7)
    layers = [
        *_band_layers(alt, band, x),
        rules.encode(x=x("low"), x2="high:Q", y=y, color=alt.Color("colour:N", scale=None)),
        points.encode(
            x=x("x"),
            y=y,
            fill=alt.Fill("colour:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            size=alt.Size("size:Q", scale=None),
        ),
        *_labels(alt, texts, y, None),
    ]
    return _svg(alt.layer(*layers), max(60, ROW * len(names)), label)
