/** A finger on this: it comes down, moves over these places and leaves, a tenth of a second after each other. */
export function touch(target: Element) {
  let time = 0
  const send = (type: string, x: number, y: number): void => {
    time += 100
    const event = new Event(type, { bubbles: true, cancelable: true })
    const fields = { pointerId: 7, pointerType: 'touch', isPrimary: true, clientX: x, clientY: y, timeStamp: time }
    for (const [name, value] of Object.entries(fields)) Object.defineProperty(event, name, { value })
    target.dispatchEvent(event)
  }
  return {
    down: (x: number, y: number) => send('pointerdown', x, y),
    move: (x: number, y: number) => send('pointermove', x, y),
    up: (x: number, y: number) => send('pointerup', x, y),
    /** The browser makes something of its own of it. */
    cancel: () => send('pointercancel', 0, 0),
  }
}
