export {
  Int,
  PathResource,
  Sentence,
  Str,
  type IntSpec,
  type PathSpec,
  type TextSpec,
} from "./conformance-resources.ts";
export { RecordingLogger, type LogLevel, type LogLine } from "./recording-logger.ts";
