// @vitest-environment happy-dom
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import page from '../../index.html?raw'
import { startVisibleArea } from './visibleArea'

class FakeViewport extends EventTarget {
  height = 800
  offsetTop = 0
  scale = 1
  become(fields: Partial<Pick<FakeViewport, 'height' | 'offsetTop' | 'scale'>>, type = 'resize'): void {
    Object.assign(this, fields)
    this.dispatchEvent(new Event(type))
  }
}
const root = document.documentElement
const seen = (): string[] => ['--seen-top', '--seen-height'].map((name) => root.style.getPropertyValue(name))
let viewport: FakeViewport
let leave: () => void
beforeEach(() => {
  vi.spyOn(root, 'clientHeight', 'get').mockReturnValue(800)
  viewport = new FakeViewport()
  leave = startVisibleArea(viewport as unknown as VisualViewport)
})
afterEach(() => leave())

it('makes room for a keyboard that lies over the page, and takes it back', () => {
  expect(seen()).toEqual(['', ''])
  viewport.become({ height: 460.4 })
  expect([...seen(), root.hasAttribute('data-keyboard')]).toEqual(['0px', '460px', true])
  viewport.become({ offsetTop: 120 }, 'scroll')
  expect(seen()).toEqual(['120px', '460px'])
  viewport.become({ height: 800, offsetTop: 0 })
  expect([...seen(), root.hasAttribute('data-keyboard')]).toEqual(['', '', false])
})
it('takes neither two fingers nor a bar of the browser for a keyboard', () => {
  viewport.become({ height: 400, scale: 2 })
  expect(seen()).toEqual(['', ''])
  viewport.become({ height: 740, scale: 1 })
  expect(seen()).toEqual(['', ''])
})
it('asks other browsers to make the page smaller, and for all of the screen', () => {
  const content = /name="viewport"\s+content="([^"]*)"/.exec(page)?.[1] ?? ''
  expect(content.split(', ')).toEqual(
    expect.arrayContaining(['interactive-widget=resizes-content', 'viewport-fit=cover']),
  )
})
it('lets no phone make the page larger for a field, whose letters are large enough', () => {
  const style = readFileSync('src/app/style.css', 'utf8')
  const touch = style.slice(style.indexOf('@media (pointer: coarse)'))
  expect(touch).toMatch(/textarea,\s+select,\s+\.cm-content \{\s+font-size: 16px;/)
})
