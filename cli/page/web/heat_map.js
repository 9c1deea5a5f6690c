// A small square for each node, for clusters with more nodes than fit into one group.

// A square with its gap, in px: as large as the height allows.
const CELL = { least: 4, most: 12 };
const HEIGHT = 320; // px
const HEATS = { gpus: "GPUs", cpu: "CPU", memory: "memory" };

class HeatMap {
  // `onNode(name)`: the user requests that node.
  constructor(onNode) {
    this.onNode = onNode;
    const options = Object.entries(HEATS).map(([value, textContent]) => make("option", { value, textContent }));
    this.select = make("select", {}, ...options);
    this.canvas = make("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.text = make("p", { className: "heat-text" });
    this.text.setAttribute("role", "status");
    const label = make("label", {}, "Colour by the part allocated of ", this.select);
    this.element = make("div", { className: "heat" }, make("p", {}, label), this.canvas, this.text);
    this.nodes = [];
    this.at = 0;
    this.select.addEventListener("change", () => this.paint());
    this.canvas.addEventListener("pointermove", (event) => this.point(this.indexAt(event)));
    this.canvas.addEventListener("click", (event) => this.open(this.indexAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.move(event));
  }

  // `nodes`: [{ name, totals, isShown }], in the order of the groups.
  draw(nodes) {
    this.element.hidden = nodes.length <= GROUP_SIZE;
    if (this.element.hidden) return;
    this.nodes = nodes;
    const full = nodes.filter(({ totals }) => totals.freeGpus === 0).length;
    this.canvas.setAttribute("aria-label", `${nodes.length} nodes, ${full} without a free GPU; arrow keys move, Enter shows the node`);
    this.paint();
  }

  paint() {
    const { canvas } = this;
    const scale = window.devicePixelRatio || 1;
    const width = this.element.clientWidth;
    const fitting = Math.floor(Math.sqrt((width * HEIGHT) / this.nodes.length));
    this.cell = Math.min(Math.max(fitting, CELL.least), CELL.most);
    this.columns = Math.max(Math.floor(width / this.cell), 1);
    const height = Math.ceil(this.nodes.length / this.columns) * this.cell;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
    }
    const style = getComputedStyle(canvas);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const size = this.cell - (this.cell > 8 ? 2 : 1);
    this.nodes.forEach(({ totals, isShown }, index) => {
      const x = (index % this.columns) * this.cell;
      const y = Math.floor(index / this.columns) * this.cell;
      context.globalAlpha = isShown ? 1 : 0.25;
      context.fillStyle = style.getPropertyValue("--free");
      context.fillRect(x, y, size, size);
      context.globalAlpha *= heatOf(totals, this.select.value);
      context.fillStyle = style.getPropertyValue("--accent");
      context.fillRect(x, y, size, size);
    });
  }

  indexAt(event) {
    const column = Math.floor(event.offsetX / this.cell);
    return column < this.columns ? Math.floor(event.offsetY / this.cell) * this.columns + column : -1;
  }

  point(index) {
    const node = this.nodes[index];
    setText(this.text, node ? `${node.name}: ${totalsText(node.totals)}` : "");
  }

  open(index) {
    if (this.nodes[index]) this.onNode(this.nodes[index].name);
  }

  move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns }[event.key];
    if (event.key === "Enter") this.open(this.at);
    if (step === undefined) return;
    event.preventDefault();
    if (this.nodes[this.at + step]) this.at += step;
    this.point(this.at);
  }
}

// Returns the allocated fraction of what the node has, 0 to 1.
function heatOf({ taken, all }, member) {
  const members = member === "gpus" ? GPU_MEMBERS : [member];
  const whole = members.reduce((sum, each) => sum + all[each], 0);
  return whole > 0 ? Math.min(members.reduce((sum, each) => sum + taken[each], 0) / whole, 1) : 0;
}
