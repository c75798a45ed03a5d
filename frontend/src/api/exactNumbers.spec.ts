import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEvents, printExact } from './exactNumbers'

const asked = (given: string, type = 'approval.requested'): string =>
  `{"type":"${type}","seq":4,"calls":[{"call_id":"c1","arguments":${given}}]}`
interface Asked {
  calls: { arguments: Record<string, unknown> }[]
}

describe('whole numbers beyond 2^53', () => {
  it('are exact where a person decides', () => {
    const given = '{"id":9007199254740993,"less":-12345678901234567890,"in":[{"n":100000000000000000000}]}'
    const [call] = parseEvents<Asked>(asked(given)).calls
    expect(call?.arguments).toEqual({
      id: 9007199254740993n,
      less: -12345678901234567890n,
      in: [{ n: 100000000000000000000n }],
    })
    expect(printExact(call?.arguments).replaceAll(/\s/g, '')).toBe(given)
  })
  it('are exact in a page of events, in that kind of event alone', () => {
    const big = '{"n":9007199254740993}'
    const page = `{"items":[${asked(big, 'tool.called')},${asked(big)}],"has_more":false,"total":9007199254740993}`
    const { items, total } = parseEvents<{ items: Asked[]; total: number }>(page)
    expect(items.map((item) => typeof item.calls[0]?.arguments['n'])).toEqual(['number', 'bigint'])
    expect(typeof total).toBe('number')
  })
  it('are left as they stand in texts and in numbers with a point or an exponent', () => {
    const given = { text: 'say "1234567890123456789" \\', near: 1234567890123456.5, far: 1e300, safe: 9007199254740991 }
    expect(parseEvents<Asked>(asked(JSON.stringify(given))).calls[0]?.arguments).toEqual(given)
  })
  it('are none where they are the digits of a fraction or an exponent', () => {
    const given = '{"small":0.0000010000000000000002,"less":-1.2345678901234567,"far":1.0000000000000002e-16}'
    expect(parseEvents<Asked>(asked(given)).calls[0]?.arguments).toEqual(JSON.parse(given))
  })
  it('change nothing of any other JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = asked(`{"value":${JSON.stringify(value)},"id":9007199254740993}`)
        const parsed = parseEvents<Asked>(text).calls[0]?.arguments
        expect(parsed?.['id']).toBe(9007199254740993n)
        expect(JSON.parse(printExact(parsed?.['value']) ?? 'null')).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
  it('of JSON that is none say so as ever', () => {
    expect(() => parseEvents('{"type":"approval.requested",1234567890123456789')).toThrow(SyntaxError)
  })
})
