/** Two soft notes, each by its frequency in hertz and its start in seconds. */
const NOTES = [
  { frequency: 660, start: 0 },
  { frequency: 880, start: 0.16 },
] as const
const LASTS_S = 0.45
const LOUDNESS = 0.12

/** Plays a short chime. A browser that lets pages play no sound before a press stays silent. */
export function playChime(): void {
  if (!('AudioContext' in window)) return
  const context = new AudioContext()
  const end = context.currentTime + NOTES[1].start + LASTS_S
  for (const { frequency, start } of NOTES) {
    const [tone, volume, begins] = [context.createOscillator(), context.createGain(), context.currentTime + start]
    tone.frequency.value = frequency
    volume.gain.setValueAtTime(LOUDNESS, begins)
    volume.gain.exponentialRampToValueAtTime(0.001, begins + LASTS_S)
    tone.connect(volume).connect(context.destination)
    tone.start(begins)
    tone.stop(end)
  }
  setTimeout(() => void context.close().catch(() => undefined), (LASTS_S + 1) * 1000)
}
