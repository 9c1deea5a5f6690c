// The time that is shown: a slider, steps from change to change, and playing.

const PLAY_SECONDS = 60; // for the whole run

class Player {
  // `timelines()`: returns those that are shown; `draw(time)`: draws them.
  constructor(timelines, draw) {
    this.timelines = timelines;
    this.draw = draw;
    this.slider = document.getElementById("at");
    this.clock = document.getElementById("clock");
    this.button = document.getElementById("play");
    this.slider.addEventListener("input", () => this.show());
    this.button.addEventListener("click", () => this.toggle());
    document.getElementById("next").addEventListener("click", () => this.step("nextChange", Math.min));
    document.getElementById("previous").addEventListener("click", () => this.step("previousChange", Math.max));
    document.getElementById("time").hidden = false;
  }

  get time() {
    return Number(this.slider.value);
  }

  // Sets the range of the slider, from the first change of a run to the last one. Goes to the time
  // that `choose(begin, end)` returns, by default the present one.
  stretch(choose = () => this.time) {
    const begin = Math.min(...this.timelines().map((timeline) => timeline.begin));
    const end = Math.max(...this.timelines().map((timeline) => timeline.end));
    const time = Math.min(Math.max(choose(begin, end), begin), end);
    this.begin = begin;
    this.end = end;
    this.slider.min = begin;
    this.slider.max = end;
    this.goTo(time);
  }

  goTo(time) {
    this.slider.value = time;
    this.show();
  }

  show() {
    const text = durationText(this.time);
    setText(this.clock, text);
    this.slider.setAttribute("aria-valuetext", text);
    this.draw(this.time);
  }

  step(which, choose) {
    const times = this.timelines().map((timeline) => timeline[which](this.time)).filter((time) => time !== undefined);
    if (times.length > 0) this.goTo(choose(...times));
  }

  toggle() {
    this.playing = !this.playing;
    setText(this.button, this.playing ? "Pause" : "Play");
    if (!this.playing) return;
    if (this.time >= this.end) this.goTo(this.begin);
    let last = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      this.goTo(Math.min(this.time + ((now - last) / 1000) * ((this.end - this.begin) / PLAY_SECONDS), this.end));
      last = now;
      if (this.time >= this.end) this.toggle();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
