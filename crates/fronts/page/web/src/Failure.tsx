// What went wrong, for the eye and for screen readers.

export function Failure({ text }: { text: string }) {
  return (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
