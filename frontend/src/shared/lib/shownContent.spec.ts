import { describe, expect, it } from 'vitest'
import { pdfUrl, pictureUrl, saved, shown, typeOf } from './shownContent'

const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text, (char) => char.charCodeAt(0))
const page = '<html><script>alert(1)</script></html>'

describe('typeOf', () => {
  it.each([
    ['\x89PNG\r\n\x1a\n....', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a/*', 'image/gif'],
    ['RIFF....WEBPVP8 ', 'image/webp'],
    ['%PDF-1.7', 'application/pdf'],
  ])('%j is known by its first bytes', (head, type) => {
    expect(typeOf(bytes(head))).toBe(type)
  })
  it.each([page, '<svg xmlns="http://www.w3.org/2000/svg"/>', 'alert(1)', '', ' %PDF-1.7'])('%j is nothing', (head) => {
    expect(typeOf(bytes(head))).toBeNull()
  })
})

describe('what is shown', () => {
  it('has the type of its bytes and not the one it was served as', async () => {
    const picture = await shown(new Blob([bytes('\x89PNG\r\n\x1a\n')], { type: 'text/html' }))
    expect(picture?.type).toBe('image/png')
    expect(await shown(new Blob([page], { type: 'image/png' }))).toBeNull()
  })
  it('is never a page, whatever its name', async () => {
    expect(await pictureUrl(new Blob([page], { type: 'text/html' }), 'a.png')).toBeNull()
    expect(await pictureUrl(new Blob([bytes('%PDF-1.7')]), 'a.svg')).toBeNull()
    expect(await pdfUrl(new Blob([page], { type: 'application/pdf' }))).toBeNull()
  })
  it('is a data: address where it could run on its own', async () => {
    const url = await pictureUrl(new Blob(['<svg onload="alert(1)"/>'], { type: 'image/svg+xml' }), 'a.SVG')
    expect(url).toMatch(/^data:image\/svg\+xml;charset=utf-8,%3Csvg/)
  })
})

it('is saved as bytes', () => {
  expect(saved(new Blob([page], { type: 'text/html' })).type).toBe('application/octet-stream')
})
