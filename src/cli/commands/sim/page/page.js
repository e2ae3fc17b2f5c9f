"use strict";
// Draws the histories of a simulation. `data.histories` is an array of
//   machines  [{name, liar}]           liar: how it lies, or null
//   end       ms                       all times are whole milliseconds since the start
//   blocks    [[at, height, parent, proposer, orders, branch, hash, final]]   parent: index or -1; final: ms or -1
//   tips      per machine [[at, block, undone]]     block: index or -1 for those the history began with
//   finals    per machine [[at, height]]
//   splits    [[from, until, group of each machine]]   group -1: hears nobody
//   outages, pauses   per machine [[from, until]]
//   events    [[at, machines, kind, text]]          machines: their names, empty for the world
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const AT = 0, HEIGHT = 1, PARENT = 2, PROPOSER = 3, ORDERS = 4, BRANCH = 5, HASH = 6, FINAL = 7;
const BRANCH_COLOURS = 7, GROUP_COLOURS = 4;
const LABELS = 64, AXIS = 22, CHART = 170, GAP = 10, RIGHT = 12;

const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "raised", "line", "text", "faint", "good", "bad", "lane", "off", "mark", "link"])
    colours[name] = style.getPropertyValue("--" + name).trim();
  colours.branch = [...Array(BRANCH_COLOURS).keys()].map(i => style.getPropertyValue("--branch" + i).trim());
  colours.group = [...Array(GROUP_COLOURS).keys()].map(i => style.getPropertyValue("--group" + i).trim());
}
// The chain that survived has a colour of its own; dead ends take turns with the others.
const branchColour = branch => colours.branch[branch === 0 ? 0 : 1 + (branch - 1) % (BRANCH_COLOURS - 1)];
const groupColour = group => colours.group[group % GROUP_COLOURS];
const groupName = group => group < 26 ? String.fromCharCode(65 + group) : "#" + group;

const seconds = ms => (ms / 1000).toFixed(3) + " s";
const plural = (count, noun) => count + " " + noun + (count === 1 ? "" : "s");
/// The index of the last entry of `rows` at or before `time`; -1 when there is none. Rows are in order.
function lastBefore(rows, time) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
const within = (spans, time) => spans.find(span => span[0] <= time && time < span[1]);
const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

class Drawing {
  constructor(history, root) {
    this.history = history;
    this.root = root;
    this.from = 0;
    this.until = Math.max(1, history.end);
    this.over = null;
    this.pinned = null;
    this.lane = Math.max(26, Math.min(44, Math.floor(340 / history.machines.length)));
    this.finalSteps = this.makeFinalSteps();
    this.overview = root.querySelector("canvas.overview");
    this.canvas = root.querySelector("canvas.lanes");
    this.details = root.querySelector(".details");
    this.listen();
    this.fillEvents();
    this.explain(null);
    new ResizeObserver(() => {
      if (this.width !== this.drawnWidth) requestAnimationFrame(() => this.draw());
    }).observe(this.canvas);
  }

  /// The chart shows the heights of what is in view, so that forks of a few blocks can be told apart.
  scale() {
    const shown = this.inView().map(i => this.history.blocks[i][HEIGHT]);
    for (const at of [this.from, this.until]) {
      const step = lastBefore(this.finalSteps, at);
      if (step >= 0) shown.push(this.finalSteps[step][1], this.finalSteps[step][2]);
    }
    this.heightMax = shown.reduce((most, one) => Math.max(most, one), 1);
    this.heightMin = Math.max(0, shown.reduce((least, one) => Math.min(least, one), this.heightMax - 1) - 1);
  }

  /// The highest and the lowest final height among all machines over time.
  makeFinalSteps() {
    const moves = [];
    this.history.finals.forEach((rows, machine) => rows.forEach(([at, height]) => moves.push([at, machine, height])));
    moves.sort((left, right) => left[0] - right[0]);
    const now = this.history.machines.map(() => 0);
    let highest = 0;
    return moves.map(([at, machine, height]) => {
      now[machine] = height;
      highest = Math.max(highest, height);
      return [at, highest, Math.min(...now)];
    });
  }

  // ---- places ------------------------------------------------------------------------------------------------------
  get width() { return this.canvas.clientWidth; }
  get plot() { return this.width - LABELS - RIGHT; }
  x(time) { return LABELS + (time - this.from) / (this.until - this.from) * this.plot; }
  time(x) { return this.from + (x - LABELS) / this.plot * (this.until - this.from); }
  laneTop(machine) { return AXIS + CHART + GAP + machine * this.lane; }
  laneMiddle(machine) { return this.laneTop(machine) + this.lane / 2; }
  chartY(height) {
    return AXIS + CHART - 6 - (height - this.heightMin) / (this.heightMax - this.heightMin) * (CHART - 14);
  }
  laneAt(y) {
    const lane = Math.floor((y - this.laneTop(0)) / this.lane);
    return lane >= 0 && lane < this.history.machines.length ? lane : -1;
  }
  show(from, until) {
    const end = Math.max(1, this.history.end);
    const span = Math.min(end, Math.max(20, until - from));
    this.from = Math.max(0, Math.min(from, end - span));
    this.until = this.from + span;
    this.draw();
    // So that what is in view can be sent to somebody as an address.
    history.replaceState(null, "", "#" + this.root.id + ":" + Math.round(this.from) + "-" + Math.round(this.until));
  }
  zoom(factor, around) {
    const centre = around === undefined ? (this.from + this.until) / 2 : around;
    this.show(centre - (centre - this.from) * factor, centre + (this.until - centre) * factor);
  }
  visible(rows, at = row => row[0]) {
    return rows.filter(row => at(row) >= this.from && at(row) <= this.until);
  }

  // ---- drawing -----------------------------------------------------------------------------------------------------
  prepare(canvas, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = height + "px";
    const width = Math.round(canvas.clientWidth * ratio), tall = Math.round(height * ratio);
    if (canvas.width !== width || canvas.height !== tall) { canvas.width = width; canvas.height = tall; }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, height);
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    return pen;
  }

  draw() {
    if (this.width === 0) return;
    this.drawnWidth = this.width;
    const height = this.laneTop(this.history.machines.length) + 6;
    const pen = this.prepare(this.canvas, height);
    this.pen = pen;
    this.scale();
    this.lanes();
    pen.save();
    pen.beginPath();
    pen.rect(LABELS, 0, this.plot + RIGHT, height);
    pen.clip();
    this.groups();
    this.axis(height);
    this.followed();
    this.stops();
    this.links();
    this.blocks();
    this.marks(height);
    this.chart();
    if (this.pinned) this.cursor(this.pinned.at, height);
    pen.restore();
    this.drawOverview();
  }

  lanes() {
    const pen = this.pen;
    this.history.machines.forEach((machine, i) => {
      if (i % 2 === 0) {
        pen.fillStyle = colours.lane;
        pen.fillRect(0, this.laneTop(i), this.width, this.lane);
      }
      pen.fillStyle = machine.liar ? colours.bad : colours.text;
      pen.textAlign = "right";
      pen.fillText((machine.liar ? "\u26a0 " : "") + machine.name, LABELS - 10, this.laneMiddle(i) + 1);
    });
    pen.fillStyle = colours.faint;
    pen.fillText("height", LABELS - 10, this.chartY(this.heightMax) + 2);
    pen.fillText(String(this.heightMax), LABELS - 10, this.chartY(this.heightMax) + 18);
    pen.fillText(String(Math.max(0, this.heightMin)), LABELS - 10, this.chartY(this.heightMin) - 2);
  }

  groups() {
    const pen = this.pen;
    for (const [from, until, of] of this.history.splits) {
      if (until < this.from || from > this.until) continue;
      const left = Math.max(LABELS, this.x(from)), right = this.x(until);
      pen.globalAlpha = .3;
      pen.fillStyle = colours.line;
      pen.fillRect(left, AXIS, right - left, CHART);
      pen.globalAlpha = 1;
      of.forEach((group, machine) => {
        if (group >= 0) {
          pen.fillStyle = groupColour(group);
          pen.fillRect(left, this.laneTop(machine), right - left, this.lane);
        }
        if (right - left > 24) {
          pen.fillStyle = colours.faint;
          pen.textAlign = "left";
          pen.font = "600 10px system-ui, 'DejaVu Sans', sans-serif";
          pen.fillText(group < 0 ? "\u2013" : groupName(group), left + 4, this.laneTop(machine) + 7);
          pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
        }
      });
    }
  }

  axis(height) {
    const pen = this.pen;
    const steps = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 3e5, 6e5, 18e5, 36e5];
    const step = steps.find(one => one / (this.until - this.from) * this.plot >= 80) || steps[steps.length - 1];
    for (let at = Math.ceil(this.from / step) * step; at <= this.until; at += step) {
      const x = Math.round(this.x(at)) + .5;
      pen.strokeStyle = colours.line;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(x, AXIS - 4);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = colours.faint;
      pen.textAlign = x < LABELS + 20 ? "left" : x > this.width - 30 ? "right" : "center";
      pen.fillText(step < 1000 ? (at / 1000).toFixed(2) : at / 1000 + " s", x, 9);
    }
  }

  /// The middle of a lane has the colour of the branch that the machine follows.
  followed() {
    const pen = this.pen;
    this.history.tips.forEach((rows, machine) => {
      const y = this.laneMiddle(machine) - 2;
      const first = Math.max(0, lastBefore(rows, this.from));
      let branch = first === 0 ? 0 : -1, begun = 0;
      const put = until => {
        if (branch < 0) return;
        pen.fillStyle = branchColour(branch);
        pen.globalAlpha = .5;
        pen.fillRect(this.x(begun), y, Math.max(1, this.x(until) - this.x(begun)), 4);
        pen.globalAlpha = 1;
      };
      for (let i = first; i < rows.length && rows[i][0] <= this.until; ++i) {
        const next = rows[i][1] < 0 ? 0 : this.history.blocks[rows[i][1]][BRANCH];
        if (next === branch) continue;
        put(rows[i][0]);
        branch = next;
        begun = rows[i][0];
      }
      put(Math.min(this.until, this.history.end));
    });
  }

  /// Machines that are off, and machines that stand still.
  stops() {
    const pen = this.pen;
    const hatch = (left, top, right, bottom, gap) => {
      pen.save();
      pen.beginPath();
      pen.rect(left, top, right - left, bottom - top);
      pen.clip();
      pen.beginPath();
      for (let x = left - (bottom - top) - left % gap; x < right; x += gap) {
        pen.moveTo(x, bottom);
        pen.lineTo(x + bottom - top, top);
      }
      pen.strokeStyle = colours.off;
      pen.lineWidth = 1.2;
      pen.stroke();
      pen.restore();
    };
    this.history.machines.forEach((_, machine) => {
      const top = this.laneTop(machine) + 3, bottom = top + this.lane - 6;
      const clamp = ([from, until]) => [Math.max(LABELS, this.x(from)), Math.min(this.width, this.x(until))];
      for (const span of this.history.outages[machine]) {
        const [left, right] = clamp(span);
        if (right < LABELS || left > this.width) continue;
        pen.fillStyle = colours.off;
        pen.fillRect(left, top, Math.max(2, right - left), bottom - top);
        if (right - left > 30) {
          pen.fillStyle = colours.ground;
          pen.textAlign = "center";
          pen.fillText("off", (left + right) / 2, (top + bottom) / 2 + 1);
        }
      }
      for (const span of this.history.pauses[machine]) {
        const [left, right] = clamp(span);
        if (right < LABELS || left > this.width) continue;
        hatch(left, top, right, bottom, 6);
        pen.strokeStyle = colours.off;
        pen.strokeRect(left + .5, top + .5, Math.max(1, right - left - 1), bottom - top - 1);
      }
    });
  }

  inView() {
    const blocks = this.history.blocks, found = [];
    for (let i = 0; i < blocks.length; ++i)
      if (blocks[i][AT] >= this.from - 50 && blocks[i][AT] <= this.until + 50) found.push(i);
    return found;
  }

  /// From each block to its parent: where lines part, the chain forks. Only when there is room for them.
  links() {
    const pen = this.pen, blocks = this.history.blocks, shown = this.inView();
    const always = shown.length <= 350;
    for (const i of shown) {
      const block = blocks[i];
      if (block[PARENT] < 0 || block[PROPOSER] < 0) continue;
      const parent = blocks[block[PARENT]];
      const forks = parent[BRANCH] !== block[BRANCH];
      if ((!always && !forks) || parent[PROPOSER] < 0) continue;
      pen.strokeStyle = branchColour(block[BRANCH]);
      pen.globalAlpha = forks ? .95 : .38;
      pen.lineWidth = forks ? 1.6 : 1;
      pen.setLineDash(forks ? [4, 3] : []);
      pen.beginPath();
      pen.moveTo(this.x(parent[AT]), this.laneMiddle(parent[PROPOSER]));
      pen.lineTo(this.x(block[AT]), this.laneMiddle(block[PROPOSER]));
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  blocks() {
    const pen = this.pen, blocks = this.history.blocks, shown = this.inView();
    const crowded = shown.length > this.plot * this.history.machines.length / 24;
    const half = crowded ? 2 : 4;
    for (const i of shown) {
      const block = blocks[i];
      if (block[PROPOSER] < 0) continue;
      this.block(this.x(block[AT]), this.laneMiddle(block[PROPOSER]), block, half, i);
    }
  }
  /// A square survived, a diamond is of a dead end; filled is final.
  block(x, y, block, half, index) {
    const pen = this.pen;
    pen.beginPath();
    if (block[BRANCH] === 0) {
      pen.rect(x - half, y - half, 2 * half, 2 * half);
    } else {
      const wide = half * 1.35;
      pen.moveTo(x, y - wide);
      pen.lineTo(x + wide, y);
      pen.lineTo(x, y + wide);
      pen.lineTo(x - wide, y);
      pen.closePath();
    }
    const colour = branchColour(block[BRANCH]);
    pen.fillStyle = block[FINAL] >= 0 ? colour : colours.ground;
    pen.fill();
    pen.strokeStyle = colour;
    pen.lineWidth = half > 2 ? 1.6 : 1;
    pen.stroke();
    if (this.isMarked("block", index)) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(x - half - 3, y - half - 3, 2 * half + 6, 2 * half + 6);
    }
  }
  isMarked(kind, index) {
    return [this.over, this.pinned].some(one => one && one.kind === kind && one.index === index);
  }

  /// Cuts, heals and reorganisations.
  marks(height) {
    const pen = this.pen;
    const mark = (at, text, dashed) => {
      if (at < this.from || at > this.until) return;
      const x = Math.round(this.x(at)) + .5;
      pen.strokeStyle = colours.mark;
      pen.lineWidth = 1.4;
      pen.setLineDash(dashed ? [5, 3] : []);
      pen.beginPath();
      pen.moveTo(x, AXIS);
      pen.lineTo(x, height);
      pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = colours.mark;
      pen.textAlign = "left";
      pen.fillText(text, x + 4, AXIS + 9);
    };
    const splits = this.history.splits;
    splits.forEach(([from, until], i) => {
      mark(from, "cut", true);
      const again = i + 1 < splits.length && splits[i + 1][0] === until;
      if (!again && until < this.history.end) mark(until, "heal", false);
    });
    this.history.tips.forEach((rows, machine) => {
      for (let i = Math.max(0, lastBefore(rows, this.from)); i < rows.length && rows[i][0] <= this.until; ++i) {
        if (rows[i][2] === 0 || rows[i][0] < this.from) continue;
        const x = this.x(rows[i][0]), y = this.laneTop(machine) + this.lane - 2;
        pen.fillStyle = colours.mark;
        pen.beginPath();
        pen.moveTo(x, y - 7);
        pen.lineTo(x + 5, y);
        pen.lineTo(x - 5, y);
        pen.closePath();
        pen.fill();
        if (this.plot / (this.until - this.from) > .02) {
          pen.textAlign = "left";
          pen.font = "600 10px system-ui, 'DejaVu Sans', sans-serif";
          pen.fillText(String(rows[i][2]), x + 6, y - 3);
          pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
        }
      }
    });
  }

  /// Heights over time: blocks as dots, what is final as a line, and how far the slowest machine is behind it.
  chart() {
    const pen = this.pen, steps = this.finalSteps;
    for (const i of this.inView()) {
      const block = this.history.blocks[i];
      pen.fillStyle = branchColour(block[BRANCH]);
      pen.fillRect(this.x(block[AT]) - 1.5, this.chartY(block[HEIGHT]) - 1.5, 3, 3);
    }
    const line = column => {
      const first = Math.max(0, lastBefore(steps, this.from));
      pen.beginPath();
      let y = this.chartY(this.heightMin);
      pen.moveTo(LABELS, y);
      for (let i = first; i < steps.length && steps[i][0] <= this.until; ++i) {
        const x = this.x(steps[i][0]);
        pen.lineTo(x, y);
        y = this.chartY(Math.max(this.heightMin, steps[i][column]));
        pen.lineTo(x, y);
      }
      pen.lineTo(this.x(Math.min(this.until, this.history.end)), y);
    };
    pen.strokeStyle = colours.good;
    pen.lineWidth = 2.2;
    line(1);
    pen.stroke();
    pen.lineWidth = 1.2;
    pen.setLineDash([3, 3]);
    line(2);
    pen.stroke();
    pen.setLineDash([]);
  }

  cursor(at, height) {
    const pen = this.pen, x = Math.round(this.x(at)) + .5;
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1;
    pen.setLineDash([1, 3]);
    pen.beginPath();
    pen.moveTo(x, AXIS);
    pen.lineTo(x, height);
    pen.stroke();
    pen.setLineDash([]);
  }

  /// The whole history in a strip: where blocks were sealed, where the network was cut, and what is in view.
  drawOverview() {
    const height = 34, pen = this.prepare(this.overview, height);
    const end = Math.max(1, this.history.end), x = at => LABELS + at / end * this.plot;
    pen.fillStyle = colours.raised;
    pen.fillRect(LABELS, 0, this.plot, height);
    for (const [from, until] of this.history.splits) {
      pen.fillStyle = groupColour(1);
      pen.fillRect(x(from), 0, x(until) - x(from), height);
    }
    const bins = new Array(Math.max(1, Math.floor(this.plot))).fill(0);
    for (const block of this.history.blocks)
      ++bins[Math.min(bins.length - 1, Math.floor(block[AT] / end * bins.length))];
    const most = Math.max(1, ...bins);
    pen.fillStyle = branchColour(0);
    bins.forEach((count, i) => {
      if (count > 0) pen.fillRect(LABELS + i, height, 1, -(4 + count / most * (height - 10)));
    });
    pen.strokeStyle = colours.text;
    pen.lineWidth = 1.5;
    pen.strokeRect(x(this.from) + .75, .75, Math.max(4, x(this.until) - x(this.from) - 1.5), height - 1.5);
    pen.fillStyle = colours.faint;
    pen.textAlign = "right";
    pen.fillText("all", LABELS - 10, height / 2);
  }

  // ---- looking closer ----------------------------------------------------------------------------------------------
  find(x, y) {
    const blocks = this.history.blocks;
    let best = null, near = 9;
    for (const i of this.inView()) {
      const block = blocks[i];
      const inChart = y < AXIS + CHART;
      const at = inChart ? this.chartY(block[HEIGHT]) : block[PROPOSER] < 0 ? -99 : this.laneMiddle(block[PROPOSER]);
      const away = Math.hypot(this.x(block[AT]) - x, at - y);
      if (away < near) { near = away; best = { kind: "block", index: i, at: block[AT] }; }
    }
    if (best) return best;
    const lane = this.laneAt(y);
    if (lane < 0 || x < LABELS) return null;
    const at = Math.round(this.time(x));
    return at >= 0 && at <= this.history.end ? { kind: "lane", index: lane, at } : null;
  }

  describe(what) {
    if (what.kind === "event") return what.lines;
    if (what.kind === "block") {
      const block = this.history.blocks[what.index];
      const parent = block[PARENT] >= 0 ? this.history.blocks[block[PARENT]] : null;
      const by = block[PROPOSER] >= 0 ? this.history.machines[block[PROPOSER]].name : "somebody unknown";
      const followers = this.history.tips.filter(rows => rows.some(row => row[1] === what.index)).length;
      return [
        "Block " + block[HASH] + " at height " + block[HEIGHT],
        "sealed by " + by + " after " + seconds(block[AT]) + ", " + plural(block[ORDERS], "order"),
        parent ? "on " + parent[HASH] + (parent[BRANCH] !== block[BRANCH] ? ", where the chain forks" : "")
               : "on what the history began with",
        "tip of " + plural(followers, "machine") + " at some time",
        block[BRANCH] === 0 ? "on the chain that survived" : "on dead end " + block[BRANCH],
        block[FINAL] >= 0 ? "final after " + seconds(block[FINAL]) + ", " + (block[FINAL] - block[AT]) + " ms later"
                          : "never final",
      ];
    }
    const machine = this.history.machines[what.index], lines = [machine.name + " after " + seconds(what.at)];
    if (machine.liar) lines.push("a liar: " + machine.liar);
    if (within(this.history.outages[what.index], what.at)) return [...lines, "is off"];
    if (within(this.history.pauses[what.index], what.at)) lines.push("stands still");
    const tips = this.history.tips[what.index], tipAt = lastBefore(tips, what.at);
    if (tipAt >= 0 && tips[tipAt][1] >= 0) {
      const block = this.history.blocks[tips[tipAt][1]];
      lines.push("follows " + block[HASH] + " at height " + block[HEIGHT] +
                 (block[BRANCH] === 0 ? "" : ", dead end " + block[BRANCH]));
      const undone = tips[tipAt][2];
      if (undone > 0) lines.push("to get there it left " + plural(undone, "block") + " behind");
    }
    const finals = this.history.finals[what.index], finalAt = lastBefore(finals, what.at);
    if (finalAt >= 0) lines.push("knows height " + finals[finalAt][1] + " to be final");
    const split = within(this.history.splits, what.at);
    if (split) {
      const group = split[2][what.index];
      const others = split[2].filter(one => one === group).length - 1;
      lines.push(group < 0 ? "hears nobody" : "in group " + groupName(group) + " with " + plural(others, "other"));
    }
    return lines;
  }

  explain(what) {
    this.details.replaceChildren();
    if (!what) {
      this.details.append(element("p", "faint", "Point at a block or a lane to see what it is; click to keep it here."));
      return;
    }
    const [head, ...rest] = this.describe(what);
    const first = element("p");
    first.append(element("strong", "", head));
    this.details.append(first, element("p", "", rest.join(" \u00b7 ")));
  }

  // ---- hands -------------------------------------------------------------------------------------------------------
  listen() {
    const canvas = this.canvas;
    let drag = null;
    const place = event => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", event => {
      drag = { x: event.clientX, from: this.from, until: this.until, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (drag) {
        const away = event.clientX - drag.x;
        if (Math.abs(away) > 3) drag.moved = true;
        if (drag.moved) {
          canvas.classList.add("dragging");
          tip.hidden = true;
          const shift = -away / this.plot * (drag.until - drag.from);
          this.show(drag.from + shift, drag.until + shift);
          return;
        }
      }
      const found = this.find(...place(event));
      canvas.classList.toggle("over", !!found && found.kind === "block");
      const before = this.over;
      this.over = found;
      if ((before && before.kind === "block") || (found && found.kind === "block")) this.draw();
      if (!found) { tip.hidden = true; return; }
      tip.textContent = this.describe(found).join("\n");
      tip.hidden = false;
      const right = event.clientX + 16 + tip.offsetWidth > window.innerWidth;
      const low = event.clientY + 16 + tip.offsetHeight > window.innerHeight;
      tip.style.left = (right ? event.clientX - 12 - tip.offsetWidth : event.clientX + 14) + "px";
      tip.style.top = (low ? event.clientY - 12 - tip.offsetHeight : event.clientY + 14) + "px";
    });
    canvas.addEventListener("pointerup", event => {
      const moved = drag && drag.moved;
      drag = null;
      canvas.classList.remove("dragging");
      if (moved) return;
      this.pinned = this.find(...place(event));
      this.explain(this.pinned);
      this.draw();
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
      if (this.over) { this.over = null; this.draw(); }
    });
    // With a modifier, so that the wheel still scrolls the page.
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
      event.preventDefault();
      const amount = event.deltaY || event.deltaX;
      this.zoom(Math.exp(Math.sign(amount) * .25), this.time(place(event)[0]));
    }, { passive: false });
    canvas.addEventListener("dblclick", event => this.zoom(.4, this.time(place(event)[0])));
    canvas.addEventListener("keydown", event => {
      const span = this.until - this.from;
      const keys = {
        ArrowLeft: () => this.show(this.from - span / 5, this.until - span / 5),
        ArrowRight: () => this.show(this.from + span / 5, this.until + span / 5),
        "+": () => this.zoom(.6), "=": () => this.zoom(.6), "-": () => this.zoom(1 / .6),
        Home: () => this.show(0, this.history.end),
        Escape: () => { this.pinned = null; this.explain(null); this.draw(); },
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    const seek = event => {
      const box = this.overview.getBoundingClientRect(), span = this.until - this.from;
      const at = (event.clientX - box.left - LABELS) / this.plot * this.history.end;
      this.show(at - span / 2, at + span / 2);
    };
    let seeking = false;
    this.overview.addEventListener("pointerdown", event => {
      seeking = true;
      this.overview.setPointerCapture(event.pointerId);
      if (this.until - this.from > this.history.end * .9) this.zoom(.2);
      seek(event);
    });
    this.overview.addEventListener("pointermove", event => { if (seeking) seek(event); });
    this.overview.addEventListener("pointerup", () => { seeking = false; });
    const buttons = { in: () => this.zoom(.5), out: () => this.zoom(2), all: () => this.show(0, this.history.end),
                      left: () => this.zoomShift(-.5), right: () => this.zoomShift(.5) };
    for (const button of this.root.querySelectorAll("button[data-do]"))
      button.addEventListener("click", buttons[button.dataset.do]);
  }
  zoomShift(part) {
    const shift = (this.until - this.from) * part;
    this.show(this.from + shift, this.until + shift);
  }

  // ---- what happened, as a list ------------------------------------------------------------------------------------
  fillEvents() {
    const body = this.root.querySelector(".events tbody"), count = this.root.querySelector(".count");
    const kind = this.root.querySelector("select"), search = this.root.querySelector("input[type=search]");
    for (const name of [...new Set(this.history.events.map(event => event[2]))].sort())
      kind.append(element("option", "", name));
    const fill = () => {
      const words = search.value.toLowerCase();
      const wanted = this.history.events.filter(([, names, what, text]) =>
        (kind.value === "" || what === kind.value) && (names + " " + text).toLowerCase().includes(words));
      const shown = wanted.slice(0, 1000);
      body.replaceChildren(...shown.map(event => this.eventRow(event)));
      count.textContent = shown.length < wanted.length ? "the first 1000 of " + wanted.length
                                                       : plural(wanted.length, "line");
    };
    kind.addEventListener("change", fill);
    search.addEventListener("input", fill);
    fill();
  }
  eventRow([at, name, kind, text]) {
    const row = element("tr", "jump");
    row.tabIndex = 0;
    row.append(element("td", "number", (at / 1000).toFixed(3)), element("td", "", name),
               element("td", "faint", kind), element("td", "", text));
    const jump = () => {
      const span = Math.min(this.history.end, Math.max(2000, Math.min(this.until - this.from, 10000)));
      this.pinned = { kind: "event", at, lines: [(name || "The world") + " after " + seconds(at), text] };
      this.explain(this.pinned);
      this.show(at - span / 2, at + span / 2);
      this.root.querySelector(".stage").scrollIntoView({ block: "nearest" });
    };
    row.addEventListener("click", jump);
    row.addEventListener("keydown", event => { if (event.key === "Enter") jump(); });
    return row;
  }
}

readColours();
const drawings = data.histories.map((history, i) => new Drawing(history, document.getElementById("history-" + i)));
const wanted = /^#(history-\d+):(\d+)-(\d+)$/.exec(location.hash);
if (wanted) {
  const drawing = drawings.find(one => one.root.id === wanted[1]);
  if (drawing) {
    drawing.show(Number(wanted[2]), Number(wanted[3]));
    drawing.root.scrollIntoView();
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  for (const drawing of drawings) drawing.draw();
});
for (const box of document.querySelectorAll("input[data-only-failed]"))
  box.addEventListener("change", () => {
    for (const row of document.querySelectorAll("tr[data-clean]")) row.hidden = box.checked;
  });
