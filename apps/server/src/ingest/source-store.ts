/** What an ingest worker writes about its source: is it listening, and when was it. */
export interface SourceStore {
  /** Opens an interval of coverage; the source is live. */
  openCoverage(sourceId: string): Promise<number>;
  /** Everything up to now is covered, unless the stream has been dead since its last byte, `silentMs` ago. */
  proveCoverage(sourceId: string, coverageId: number, silentMs: number): Promise<void>;
  closeCoverage(sourceId: string, coverageId: number, end: CoverageEnd): Promise<void>;
  /**
   * Since when a source may have missed something: the end of its last coverage, or the registration of its
   * first rule when it never listened. Null when there was nothing to miss.
   */
  uncoveredSince(sourceId: string): Promise<Date | null>;
}

export interface CoverageEnd {
  readonly because: string;
  /** The last part of the interval, in which nothing was heard or nothing was kept. */
  readonly uncoveredMs: number;
}
