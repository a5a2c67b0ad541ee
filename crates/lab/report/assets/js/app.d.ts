/** The contents of a report: its index, and the values of its chunks (`page-0`, `text-3`). */
export interface ReportData {
  index: { title: string; kind: "run" | "evaluation"; cells: { state: string }[] };
  chunk(name: string): Promise<unknown[]>;
  /** Stands at the end of the larger parts. */
  note?: string;
}

export interface ShownReport {
  /** Draws pictures again, for other colours. */
  redraw(): void;
  /** Shows newer data. */
  update(data: ReportData): void;
  stop(): void;
}

export function showReport(places: { main: HTMLElement; crumbs: HTMLElement; data: ReportData }): ShownReport;
