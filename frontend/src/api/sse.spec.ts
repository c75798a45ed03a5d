import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SseParser } from './sse'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('SseParser', () => {
  it('reads id, event and data, and passes over comments', () => {
    const parser = new SseParser()
    expect(parser.push(bytes(': beat\n\nid: 7\nevent: notice\ndata: {"a":1}\n\n'))).toEqual([
      { id: '7', event: 'notice', data: '{"a":1}' },
    ])
  })
  it('gives no id to an event without one', () => {
    const parser = new SseParser()
    parser.push(bytes('id: 7\ndata: x\n\n'))
    expect(parser.push(bytes('data: y\n\n'))).toEqual([{ id: null, event: 'message', data: 'y' }])
  })
  it('reads the same however the bytes are cut and lines end', () => {
    const frames = ['{"text":"界😀"}', 'plain', 'two']
    fc.assert(
      fc.property(fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(200), { maxLength: 12 }), (newline, cuts) => {
        const whole = bytes(
          frames.map((data, index) => `id: ${index}${newline}data: ${data}${newline}${newline}`).join(''),
        )
        const points = [...new Set(cuts.map((cut) => cut % whole.length))].sort((a, b) => a - b)
        const parser = new SseParser()
        const read = [...points, whole.length].map((end, index) =>
          parser.push(whole.slice(points[index - 1] ?? 0, end)),
        )
        expect(read.flat().map((message) => message.data)).toEqual(frames)
      }),
    )
  })
})
