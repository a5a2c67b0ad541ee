// Numbers and times in words.

export const figure = (n: number): string => n.toLocaleString("en-US");

export const money = (dollars: number): string => `$${dollars < 0.995 ? Number(dollars.toPrecision(2)) : dollars.toFixed(2)}`;

export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** A time of the record (UTC) in the zone of the reader. */
export function clock(text: string): string {
  const time = new Date(text);
  return isNaN(time.getTime()) ? text : time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
