// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { ApiError } from '@/api/problems'
import { i18n } from '@/i18n'
import NotUploadedList from './NotUploadedList.vue'

afterEach(cleanup)

const large = { file: new File([''], 'large.bin'), subdir: '', error: new ApiError(413, 'upload_too_large', '') }
const late = { file: new File([''], 'late.txt'), subdir: '', error: ApiError.unreachable() }
const show = (...files: (typeof large)[]) => render(NotUploadedList, { props: { files }, global: { plugins: [i18n] } })
const again = (): HTMLElement | null => screen.queryByRole('button', { name: 'Try again' })

describe('NotUploadedList', () => {
  it('names each file and why', () => {
    show(large, late)
    expect(screen.getAllByRole('alert').map((line) => line.textContent?.trim())).toEqual([
      '“large.bin” was not uploaded: This file is 0 B, which is more than a file may have.',
      '“late.txt” was not uploaded: The server can’t be reached.',
    ])
  })
  it('names one as it is, whatever its characters do', () => {
    show({ ...late, file: new File([''], 'a\u202Etxt.exe') })
    expect(screen.getByRole('alert').textContent).toContain('“a⟨U+202E⟩txt.exe”')
  })
  it('offers to try again only where that may help', async () => {
    const { emitted, rerender } = show(large)
    expect(again()).toBeNull()
    await rerender({ files: [large, late] })
    await userEvent.click(again()!)
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
    expect([emitted()['again'], emitted()['discard']]).toEqual([[[]], [[]]])
  })
})
