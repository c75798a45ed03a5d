/** An `AudioContext` of a browser without loudspeakers: it calls `played` for each note. */
export function silentAudio(played: () => void) {
  const parameter = { value: 0, setValueAtTime: () => undefined, exponentialRampToValueAtTime: () => undefined }
  const node = () => ({
    frequency: parameter,
    gain: parameter,
    connect: (next: unknown) => next,
    start: played,
    stop: () => undefined,
  })
  return class {
    readonly currentTime = 0
    readonly destination = {}
    createOscillator = node
    createGain = node
    close = () => Promise.resolve()
  }
}
