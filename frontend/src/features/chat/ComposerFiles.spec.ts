// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { arrived, field, show } from './composerTesting'

beforeEach(() => {
  localStorage.clear()
  sessionStorage.clear()
})
afterEach(cleanup)

describe('files of the composer', () => {
  it('sends nothing while one of its files did not arrive, says why, and keeps all that was written', async () => {
    const { emitted } = show({ sessionId: 'held' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(
      picker,
      ['good.txt', 'large.bin', 'late.txt'].map((name) => new File(['x'], name)),
    )
    await screen.findByText('The server can’t be reached.')
    expect(screen.queryByRole('button', { name: 'Upload large.bin again' })).toBeNull()
    expect(screen.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('false')
    expect(screen.queryByText(/^Not sent/)).toBeNull()
    await userEvent.type(field(), 'look{Enter}')
    expect(screen.getByText(/^Not sent: a file was not uploaded/).getAttribute('role')).toBe('alert')
    await userEvent.click(screen.getByRole('button', { name: 'Remove large.bin' }))
    await userEvent.click(screen.getByRole('button', { name: 'Send' }))
    expect([field(), emitted()['send']]).toMatchObject([{ value: 'look' }, undefined])
    await userEvent.click(screen.getByRole('button', { name: 'Remove late.txt' }))
    expect(screen.queryByText(/^Not sent/)).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Send' }))
    expect(emitted()['send']).toEqual([['look', ['in/good.txt'], false]])
  })
  it('says at once that a preset cannot read them, and holds the message until that or they are changed', async () => {
    const { emitted, rerender } = show({ sessionId: 'chat' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(picker, [new File(['x'], 'good.txt'), new File(['x'], 'slow.txt')])
    await userEvent.type(field(), 'look{Enter}')
    await rerender({ takesFiles: false })
    expect(screen.getByRole('alert').textContent).toContain('This preset has no computer to read files with.')
    arrived()
    await vi.waitFor(() => expect(screen.queryByText('storing…')).toBeNull())
    await userEvent.type(field(), '{Enter}')
    expect([emitted()['send'], field()]).toMatchObject([undefined, { value: 'look' }])
    await rerender({ takesFiles: true })
    expect(screen.queryByRole('alert')).toBeNull()
    await userEvent.type(field(), '{Enter}')
    expect(emitted()['send']).toEqual([['look', ['in/good.txt', 'in/slow.txt'], false]])
  })
  it('shows a picture that is to go along, and lets it go with it', async () => {
    const [made, gone] = [vi.spyOn(URL, 'createObjectURL'), vi.spyOn(URL, 'revokeObjectURL')]
    made.mockReturnValue('blob:here')
    const { container } = show({ sessionId: 'pictures' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(picker, new File(['x'], 'good.txt', { type: 'image/png' }))
    await screen.findByText('good.txt')
    await userEvent.upload(picker, new File(['a,b'], 'slow.txt', { type: 'text/csv' }))
    const pictures = () => [...container.querySelectorAll('li img')].map((one) => one.getAttribute('src'))
    expect(pictures()).toEqual(['blob:here'])
    gone.mockClear()
    await userEvent.click(screen.getByRole('button', { name: 'Remove good.txt' }))
    expect([pictures(), gone.mock.calls]).toEqual([[], [['blob:here']]])
    vi.restoreAllMocks()
  })
  it('has nothing to send where all there is did not arrive', async () => {
    show({ sessionId: 'nothing' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(picker, new File(['x'], 'late.txt'))
    await screen.findByText('The server can’t be reached.')
    expect(screen.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('true')
    await userEvent.type(field(), '{Enter}')
    expect(screen.queryByText(/^Not sent/)).toBeNull()
  })
  it('says of a file that is too large how large it is and may be, and keeps it on show until it is removed', async () => {
    show({ sessionId: 'large' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(picker, new File(['x'], 'large.bin'))
    expect(await screen.findByText('This file is 1 B; a file may have at most 0 B.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Remove large.bin' }))
    expect(screen.queryByText('large.bin')).toBeNull()
    await userEvent.upload(picker, new File(['x'], 'large.bin'))
    await screen.findByRole('alert')
    await userEvent.type(field(), 'without it')
    expect(screen.getByRole('alert').textContent).toBe('This file is 1 B; a file may have at most 0 B.')
    await userEvent.click(screen.getByRole('button', { name: 'Remove large.bin' }))
    expect(screen.queryByText('large.bin')).toBeNull()
  })
  it('does not go by itself once the rest has arrived', async () => {
    const { emitted } = show({ sessionId: 'itself' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.type(field(), 'look')
    await userEvent.upload(
      picker,
      ['large.bin', 'slow.txt'].map((name) => new File(['x'], name)),
    )
    await userEvent.type(field(), '{Enter}')
    arrived()
    expect(await screen.findByText(/^Not sent/)).toBeTruthy()
    expect([field(), emitted()['send']]).toMatchObject([{ value: 'look' }, undefined])
  })
  it('says of a file that a reload cut off that it has to be chosen again, and sends nothing without it', async () => {
    // What the page keeps while a file is on its way.
    show({ sessionId: 'going' })
    await userEvent.upload(screen.getByLabelText('Attach files', { selector: 'input' }), [
      new File(['x'], 'good.txt'),
      new File(['x'], 'slow.txt'),
    ])
    await screen.findByText('slow.txt')
    await vi.waitFor(() => expect(localStorage.getItem('draft:u:going:files')).toContain('in/good.txt'))
    const [arrivedFiles, cut] = [localStorage, sessionStorage].map((one) => one.getItem('draft:u:going:files') ?? '')
    expect(cut).toBe('["slow.txt"]')
    cleanup()
    // The page that is loaded then.
    localStorage.setItem('draft:u:after:files', arrivedFiles ?? '')
    sessionStorage.setItem('draft:u:after:files', cut ?? '')
    const { emitted } = show({ sessionId: 'after' })
    expect(screen.getByText('good.txt')).toBeTruthy()
    expect(screen.getByRole('alert').textContent).toMatch(/choose it again/)
    await userEvent.type(field(), 'look{Enter}')
    expect(screen.getByText(/^Not sent/)).toBeTruthy()
    const again = screen.getByLabelText('Upload slow.txt again', { selector: 'input' })
    await userEvent.upload(again, new File(['x'], 'slow.txt'))
    arrived()
    await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
    await vi.waitFor(() => expect(sessionStorage.getItem('draft:u:after:files')).toBeNull())
    await userEvent.click(screen.getByRole('button', { name: 'Send' }))
    expect(emitted()['send']).toEqual([['look', ['in/good.txt', 'in/slow.txt'], false]])
    expect(localStorage.getItem('draft:u:after:files')).toBeNull()
  })
})
