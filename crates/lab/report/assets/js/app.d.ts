/** A run of a report: numbers of its tasks by outcome, and its use of models. `cost` is absent where it is unknown. */
export interface CellEntry {
  state: string;
  counts: { solved: number; not_solved: number; undecided: number; failed: number; unfinished: number };
  tokens: { calls: number; prompt: number; completion: number; cost?: number };
}

/** Pages of tasks, and the number of the first value of each chunk. */
export interface TaskPages {
  pages: number[];
  text_chunks: number[];
  page_chunks: number[];
}

/** The contents of a report: its index, and the values of its chunks (`page-0`, `text-3`). */
export interface ReportData {
  index: { title: string; kind: "run" | "evaluation"; cells: CellEntry[] };
  chunk(name: string): Promise<unknown[]>;
  /** The pages of tasks of a run that its page does not name yet. Absent if it names all. */
  tasks?(run: number, from: number, to: number): Promise<TaskPages>;
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
