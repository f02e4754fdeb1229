/** One document of a YAML stream: its text, with any directives, and the line on which it starts, counted from 1. */
export interface DocumentText {
  readonly text: string;
  readonly firstLine: number;
}

/** `---` and `...` at the start of a line end a document wherever they stand, even inside quotes and block texts. */
const START = /^---(?=[ \t\r\n]|$)/;
const END = /^\.\.\.(?=[ \t\r\n]|$)/;
/** A line that belongs to the document that follows it, if nothing else stands before: a directive, a comment, nothing. */
const PREFIX = /^(?:[%#].*|[ \t]*(?:#.*)?)\r?\n?$/;

/**
 * Cuts a stream at its document markers, so that a mistake in one document cannot swallow another. Documents without
 * content (comments alone) are left out.
 */
export function splitDocuments(stream: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let document = new OpenDocument(1);
  let number = 0;
  const close = (nextLine: number) => {
    if (document.hasContent) documents.push({ text: document.lines.join(""), firstLine: document.firstLine });
    document = new OpenDocument(nextLine);
  };
  for (const line of linesOf(stream)) {
    number++;
    if (END.test(line)) {
      close(number + 1);
      continue;
    }
    const starts = START.test(line);
    if (starts && !document.awaitsStart) close(number);
    document.add(line, starts);
  }
  close(number + 1);
  return documents;
}

class OpenDocument {
  readonly firstLine: number;
  readonly lines: string[] = [];
  hasContent = false;
  /** So far there are only directives, which belong to the document that starts after them. */
  awaitsStart = true;

  constructor(firstLine: number) {
    this.firstLine = firstLine;
  }

  add(line: string, starts: boolean): void {
    this.lines.push(line);
    const isPrefix = PREFIX.test(starts ? line.slice(3) : line);
    this.hasContent ||= !isPrefix;
    if (starts || !isPrefix) this.awaitsStart = false;
  }
}

/** The lines of a text, each with its line break. */
function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end + 1;
    yield text.slice(from, to);
    from = to;
  }
}
