// Values under the pointer. The page says everything without this too.
"use strict";
for (const figure of document.querySelectorAll("figure[data-hover]")) {
  const data = JSON.parse(document.getElementById(figure.dataset.hover).textContent);
  const svg = figure.querySelector("svg");
  const cursor = svg.querySelector(".cursor");
  const tip = figure.querySelector(".tip");
  const left = Number(svg.dataset.left);
  const width = Number(svg.dataset.width);
  const two = (n) => String(n).padStart(2, "0");
  const clock = (ms) => {
    const minutes = Math.floor(ms / 60000);
    const time = two(Math.floor(minutes / 60) % 24) + ":" + two(minutes % 60);
    const day = Math.floor(minutes / 1440) + 1;
    return day > 1 || data.end > 2 * 86400000 ? "day " + day + " " + time : time;
  };
  const value = (v) => (data.unit === "%" ? (100 * v).toFixed(1) + " %" : v.toLocaleString("en"));
  const hide = () => {
    cursor.style.visibility = tip.style.visibility = "hidden";
  };
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const part = ((event.clientX - box.left) * scale - left) / width;
    if (part < 0 || part > 1) return hide();
    const at = Math.round((part * (data.end - data.start)) / data.step);
    const index = Math.min(at, data.series[0].values.length - 1);
    const x = left + (width * index * data.step) / (data.end - data.start);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const head = document.createElement("div");
    head.append(Object.assign(document.createElement("b"), { textContent: clock(data.start + index * data.step) }));
    tip.replaceChildren(head);
    for (const series of [...data.series].reverse()) {
      const row = document.createElement("div");
      const name = document.createElement("span");
      const chip = document.createElement("i");
      chip.style.background = series.colour;
      name.append(chip, series.name);
      row.append(name, Object.assign(document.createElement("span"), { textContent: value(series.values[index]) }));
      tip.append(row);
    }
    cursor.style.visibility = tip.style.visibility = "visible";
    const within = figure.getBoundingClientRect();
    const across = event.clientX - within.left + figure.scrollLeft;
    const flip = event.clientX - within.left > within.width - tip.offsetWidth - 30;
    tip.style.left = (flip ? across - tip.offsetWidth - 14 : across + 14) + "px";
    tip.style.top = Math.max(8, event.clientY - within.top - tip.offsetHeight / 2) + "px";
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerleave", hide);
}
