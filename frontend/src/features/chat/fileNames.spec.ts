// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Component } from 'vue'
import { ApiError } from '@/api/problems'
import { i18n } from '@/i18n'
import RunEndLine from './RunEndLine.vue'
import UploadChips from './UploadChips.vue'
import UserBubble from './UserBubble.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(cleanup)

const name = 'a\u202Etxt.exe'
const error = new ApiError(413, 'upload_too_large', '')
const file = new File([''], name)
const upload = { id: 'u', name, progress: 0, path: null, problem: null, file }
const usage = { input: 0, output: 0, cost: 0, known_cost: 0 }
const places: readonly (readonly [string, Component, object])[] = [
  ['a message', UserBubble, { text: '', attachments: [`uploads/${name}`] }],
  ['what is attached', UploadChips, { uploads: [upload] }],
  ['what could not be attached', UploadChips, { uploads: [{ ...upload, problem: error }] }],
  [
    'the end of a run',
    RunEndLine,
    { end: { status: 'completed', files: [name], durationMs: 1, usage }, canRetry: false },
  ],
]

describe('the name of a file that turns its own letters round', () => {
  it.each(places)('is shown as it is in %s', (_, component, props) => {
    render(component, { props, global: { plugins: [i18n] } })
    expect(screen.getByText('a⟨U+202E⟩txt.exe').dir).toBe('ltr')
    expect(document.body.innerHTML).not.toContain('\u202E')
  })
})
