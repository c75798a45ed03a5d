/** The composer in tests, with a server that takes `good.txt`, takes `slow.txt` when told, and refuses all others. */
import { render, screen } from '@testing-library/vue'
import { createPinia, getActivePinia } from 'pinia'
import { vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { i18n } from '@/i18n'
import ComposerBox from './ComposerBox.vue'
import type { Mode } from './modes'

let arrive: () => void = () => undefined
export const arrived = (): void => arrive()
const slowly = (): Promise<string[]> => new Promise((resolve) => (arrive = () => resolve(['in/slow.txt'])))
vi.mock('@/api/upload', () => ({
  uploadFiles: (_: string, [file]: readonly File[]) =>
    file?.name === 'slow.txt'
      ? slowly()
      : file?.name === 'good.txt'
        ? Promise.resolve(['in/good.txt'])
        : Promise.reject(
            file?.name === 'large.bin'
              ? ApiError.fromText(413, '{"code": "upload_too_large", "limit_bytes": 0}')
              : ApiError.unreachable(),
          ),
}))

export function show(
  props: { isRunning?: boolean; isWaiting?: boolean; sessionId?: string | null; mode?: Mode | null } = {},
) {
  const ensureSession = () => Promise.resolve('s')
  return render(ComposerBox, {
    props: { writer: 'u', sessionId: 's', isRunning: false, isStopping: false, ensureSession, ...props },
    global: { plugins: [i18n, getActivePinia() ?? createPinia()] },
  })
}
export const field = (): HTMLElement => screen.getByRole('textbox', { name: 'Message' })
