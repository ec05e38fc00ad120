let context: AudioContext | undefined;

/** Two tones, three times for what is critical. Browsers allow sound only after the person has touched the page once. */
export function ring(isCritical: boolean): void {
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
