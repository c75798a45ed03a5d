import { afterEach, expect, it, vi } from 'vitest'
import { uploadFiles } from './upload'

vi.mock('./client', () => ({
  apiUrl: (path: string) => `/api${path}`,
  currentAccess: () => Promise.resolve('access'),
  refreshTokens: () => Promise.resolve(false),
  reportSignedOut: () => undefined,
}))
afterEach(() => vi.unstubAllGlobals())

let sent: Blob
let headers: Record<string, string>
class Request {
  readonly upload = {}
  status = 0
  responseText = ''
  onload = (): void => undefined
  open(): void {
    headers = {}
  }
  setRequestHeader(name: string, value: string): void {
    headers[name] = value
  }
  send(body: Blob): void {
    sent = body
    Object.assign(this, { status: 201, responseText: '{"uploaded":["a"]}' })
    this.onload()
  }
}

it.each([
  ['图.png', '图.png'],
  [`it's "quoted".txt`, String.raw`it's \"quoted\".txt`],
  ['50%22.txt', '50%22.txt'],
  [String.raw`a\"b`, String.raw`a\\\"b`],
  ['two\r\nlines', 'two  lines'],
])('sends %j by its name', async (name, written) => {
  vi.stubGlobal('XMLHttpRequest', Request)
  expect(await uploadFiles('s', [new File(['content\n'], name)])).toEqual(['a'])
  const [, boundary = ''] = /^multipart\/form-data; boundary=(\w+)$/.exec(headers['Content-Type'] ?? '') ?? []
  expect(await sent.text()).toBe(
    `--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="${written}"\r\n` +
      `Content-Type: application/octet-stream\r\n\r\ncontent\n\r\n--${boundary}--\r\n`,
  )
})
