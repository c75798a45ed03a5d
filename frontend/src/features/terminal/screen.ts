export interface ScreenSize {
  readonly cols: number
  readonly rows: number
}

/** What a connection does with the picture of its terminal. */
export interface Screen {
  write: (data: string | Uint8Array, done?: () => void) => void
  reset: () => void
  resize: (size: ScreenSize) => void
  fitted: () => ScreenSize
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
