import type { WriteStream } from "node:tty";

import { renderScreen, type ScreenContent } from "./render-screen.ts";

const ESC = "\u001b[";
/** The other screen, no cursor, and no line breaks of the terminal's own: what is too wide is cut off. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`;
const LEAVE = `${ESC}?7h${ESC}?25h${ESC}?1049l`;

/** Redraws happen at most this often. Unit: milliseconds. */
const FRAME_MS = 100;
/** And at least this often, for the times shown. Unit: milliseconds. */
const TICK_MS = 1_000;

/**
 * A terminal's second screen, redrawn in place. Disposing brings the first one back as it was; so does the end of the
 * process by whatever way lets it run code.
 */
export class Screen implements Disposable {
  readonly #stream: WriteStream;
  readonly #content: () => ScreenContent;
  readonly #tick: NodeJS.Timeout;
  #frame: NodeJS.Timeout | undefined;
  #open = true;
  readonly #redraw = () => this.draw(true);
  readonly #close = () => this[Symbol.dispose]();

  constructor(stream: WriteStream, content: () => ScreenContent) {
    this.#stream = stream;
    this.#content = content;
    stream.write(ENTER);
    stream.on("resize", this.#redraw);
    process.on("exit", this.#close);
    this.#tick = setInterval(() => this.draw(), TICK_MS);
    this.draw();
  }

  /** Something changed: draws soon. */
  invalidate(): void {
    if (!this.#open) return;
    this.#frame ??= setTimeout(() => this.draw(), FRAME_MS);
  }

  /** Draws now. @param clear - Forget what the terminal shows, as after a change of its size. */
  draw(clear = false): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (!this.#open) return;
    const { columns, rows } = this.#stream;
    const lines = renderScreen(this.#content(), { columns, rows });
    // Each line erases the rest of its row, so that nothing flickers; the last one must not scroll.
    this.#stream.write(
      `${clear ? `${ESC}2J` : ""}${ESC}H${lines.map((line) => `${line}${ESC}0m${ESC}K`).join("\r\n")}${ESC}J`,
    );
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    clearInterval(this.#tick);
    clearTimeout(this.#frame);
    this.#stream.off("resize", this.#redraw);
    process.off("exit", this.#close);
    this.#stream.write(LEAVE);
  }
}
