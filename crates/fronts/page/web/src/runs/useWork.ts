// Work that a form starts: the form waits for it and shows its error.

import { useState } from "preact/hooks";
import { inWords } from "../api";

export function useWork(): { isBusy: boolean; error: string | null; work(task: () => Promise<void>): Promise<void> } {
  const [state, setState] = useState<{ isBusy: boolean; error: string | null }>({ isBusy: false, error: null });
  const work = async (task: () => Promise<void>) => {
    setState({ isBusy: true, error: null });
    try {
      await task();
      setState({ isBusy: false, error: null });
    } catch (cause) {
      setState({ isBusy: false, error: inWords(cause) });
    }
  };
  return { ...state, work };
}
