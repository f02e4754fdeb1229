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
  let lines: string[] = [];
  let firstLine = 1;
  let hasContent = false;

  const close = (nextLine: number) => {
    if (hasContent) documents.push({ text: lines.join(""), firstLine });
    [lines, firstLine, hasContent] = [[], nextLine, false];
  };
  let number = 0;
  for (const line of linesOf(stream)) {
    number++;
    if (START.test(line)) {
      const isAfterDirectives = !hasContent && lines.some((one) => one.startsWith("%"));
      if (!isAfterDirectives) close(number);
      hasContent ||= !PREFIX.test(line.slice(3));
      lines.push(line);
    } else if (END.test(line)) {
      close(number + 1);
    } else {
      hasContent ||= !PREFIX.test(line);
      lines.push(line);
    }
  }
  close(number + 1);
  return documents;
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
