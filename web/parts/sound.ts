import { makeStore } from "../state/store.ts";

let context: AudioContext | undefined;

/** Browsers allow sound only after the person has touched the page once; until then nobody would hear an alarm. */
export const isSoundBlocked = makeStore(navigator.userActivation?.hasBeenActive === false);

function allow(): void {
  isSoundBlocked.set(false);
  if (context?.state === "suspended") void context.resume().catch(() => undefined);
  for (const kind of ["pointerdown", "keydown"]) removeEventListener(kind, allow);
}
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, allow);

/** Two tones, three times for what is critical. */
export function ring(isCritical: boolean): void {
  // Tones that wait for a permission would all sound at once when it comes.
  if (isSoundBlocked.get()) return;
  context ??= new AudioContext();
  if (context.state === "suspended") void context.resume().catch(() => undefined);
  const start = context.currentTime + 0.02;
  for (let turn = 0; turn < (isCritical ? 3 : 1); turn++) {
    for (const [offset, frequency] of [
      [0, 880],
      [0.18, 660],
    ] as const) {
      const tone = context.createOscillator();
      const volume = context.createGain();
      const at = start + turn * 0.5 + offset;
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.0001, at);
      volume.gain.exponentialRampToValueAtTime(0.3, at + 0.02);
      volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.16);
      tone.connect(volume).connect(context.destination);
      tone.start(at);
      tone.stop(at + 0.17);
    }
  }
}
