/** A WebSocket that a test opens and closes. */
export class FakeSocket extends EventTarget {
  static opened: FakeSocket[] = []
  constructor(readonly address: URL) {
    super()
    FakeSocket.opened.push(this)
  }
  static readonly OPEN = 1
  readonly readyState = 1
  binaryType = 'blob'
  readonly sent: unknown[] = []
  send(message: unknown): void {
    this.sent.push(message)
  }
  open(): void {
    this.dispatchEvent(new Event('open'))
  }
  close(): void {}
  closed(code: number): void {
    this.dispatchEvent(Object.assign(new Event('close'), { code }))
  }
}
