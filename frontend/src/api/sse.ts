export interface SseMessage {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Server-sent events from bytes, however they were cut. Comments (heartbeats) yield nothing but count as bytes. */
export class SseParser {
  private readonly decoder = new TextDecoder('utf-8')
  private rest = ''
  private id: string | null = null
  private event = ''
  private data: string[] = []
  private endedWithReturn = false

  push(chunk: Uint8Array): SseMessage[] {
    let text = this.decoder.decode(chunk, { stream: true })
    if (text === '') return []
    if (this.endedWithReturn && text.startsWith('\n')) text = text.slice(1)
    this.endedWithReturn = text === '' ? false : text.endsWith('\r')
    const lines = (this.rest + text).split(/\r\n|\n|\r/)
    this.rest = lines.pop() ?? ''
    const messages: SseMessage[] = []
    for (const line of lines) {
      const message = this.take(line)
      if (message) messages.push(message)
    }
    return messages
  }

  private take(line: string): SseMessage | null {
    if (line === '') return this.dispatch()
    if (line.startsWith(':')) return null
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') this.data.push(value)
    else if (name === 'event') this.event = value
    else if (name === 'id' && !value.includes('\0')) this.id = value
    return null
  }

  private dispatch(): SseMessage | null {
    const message =
      this.data.length > 0 ? { id: this.id, event: this.event || 'message', data: this.data.join('\n') } : null
    this.id = null
    this.event = ''
    this.data = []
    return message
  }
}
