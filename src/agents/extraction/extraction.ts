/** Extracts text from files, away from the event loop. */
export interface Extraction {
  /** True where the format, by name and media type, can be read. */
  isReadable(file: { name: string; media_type: string }): boolean
  /**
   * The text of a file. Rejects where the file is damaged, too large when unpacked, or takes too long: at most 20 s of
   * processor time and 256 MiB, on a thread. `place` is a page, slide or sheet, where the format has these.
   */
  read(file: { name: string; media_type: string; content: Buffer }, signal: AbortSignal): Promise<ExtractedPart[]>
}

export interface ExtractedPart {
  place: string | null
  text: string
}
