import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { call } from '@/api/client'
import type { FileEntry, Skill } from '@/api/types'
import { showInvisible } from '@/shared/lib/invisibleCharacters'
import { usePresets } from '@/features/settings'
import { begunAt, completed, fitting, inFolder, type Completion } from './completion'
import { MODE, offeredModes, type Mode } from './modes'

const COMMANDS = ['new', 'compact', 'stop', 'mode', 'models'] as const
export type Command = (typeof COMMANDS)[number] | `mode:${Mode}`
interface Options {
  readonly text: Ref<string>
  readonly field: () => HTMLTextAreaElement | null
  readonly sessionId: () => string | null
  /** Whether there is a workspace whose files could be named. */
  readonly hasFiles: () => boolean
  /** The mode that is on. */
  readonly mode: () => Mode | null
  readonly offers: (command: Command) => boolean
  readonly act: (command: Command) => void
}

/** `/` for commands and skills and `@` for files of the workspace: what is offered for what was begun. */
export function useCompletion({ text, field, sessionId, hasFiles, mode: modeNow, offers, act }: Options) {
  const { t } = useI18n()
  const presets = usePresets()
  const caret = ref(0)
  const at = ref(0)
  /** Put away by Esc, or written to its end: until something else is begun. */
  const dismissed = ref<number | null>(null)
  const skills = shallowRef<readonly Skill[] | null>(null)
  const entries = shallowRef<readonly FileEntry[]>([])
  const begun = computed(() => begunAt(text.value, caret.value))
  const place = computed(() => (begun.value?.kind === 'file' ? inFolder(begun.value.query) : null))
  const modes = computed<Completion[]>(() =>
    offeredModes(presets.list).map((mode) => ({
      id: `mode:${mode}`,
      label: `${MODE} ${mode}`,
      hint: mode === modeNow() ? t('command.modeOn', { hint: t(`command.modes.${mode}`) }) : t(`command.modes.${mode}`),
      insert: null,
    })),
  )
  const commands = computed<Completion[]>(() => [
    ...COMMANDS.filter(offers).map((id) => ({
      ...{ id, label: `/${id}`, hint: t(`command.${id}`) },
      ...(id === 'mode' ? { insert: `${MODE} `, goesOn: true } : { insert: null }),
    })),
    ...(skills.value ?? []).map(({ name, description }) => ({
      id: `skill:${name}`,
      label: `/${name}`,
      hint: description,
      insert: t('command.skill', { name }),
    })),
  ])
  const files = computed<Completion[]>(() =>
    entries.value.map(({ path, name, is_dir: goesOn }) => ({
      id: path,
      label: showInvisible(goesOn ? `${name}/` : name),
      hint: '',
      insert: goesOn ? `@${path}/` : `\`${path}\` `,
      goesOn,
    })),
  )
  const items = computed<Completion[]>(() => {
    const what = begun.value
    if (!what || dismissed.value === what.from) return []
    if (what.kind === 'command' && `/${what.query}`.startsWith(`${MODE} `))
      return fitting(modes.value, `/${what.query}`)
    if (what.kind === 'command') return fitting(commands.value, `/${what.query}`)
    return fitting(files.value, place.value?.name ?? '')
  })
  watch(items, () => (at.value = 0))
  watch(
    () => begun.value?.from ?? null,
    () => (dismissed.value = null),
  )

  let abort = new AbortController()
  watch(
    () => begun.value?.kind === 'command',
    async (is) => {
      // Of one that can't be asked the commands are offered alone.
      if (is) skills.value ??= await call<Skill[]>('GET', '/skills').catch(() => null)
    },
  )
  watch(
    () => (place.value && hasFiles() ? ([sessionId(), place.value.folder] as const) : null),
    async (wanted, before) => {
      if (wanted && before && wanted[0] === before[0] && wanted[1] === before[1]) return
      abort.abort()
      abort = new AbortController()
      entries.value = []
      const [id, path] = wanted ?? []
      if (!id) return
      const { signal } = abort
      const query = { path }
      const found = await call<FileEntry[]>('GET', `/sessions/${id}/files`, { query, signal }).catch(() => [])
      if (!signal.aborted) entries.value = found
    },
  )
  onScopeDispose(() => abort.abort())

  /** Of what was put away, or has not been looked at since it was written. */
  function offerAgain(): void {
    dismissed.value = null
    look()
  }
  function look(): void {
    caret.value = field()?.selectionStart ?? 0
  }
  async function choose(choice: Completion | undefined): Promise<void> {
    const what = begun.value
    if (!choice || !what) return
    const next = completed(text.value, caret.value, what, choice)
    text.value = next.text
    if (!choice.goesOn) dismissed.value = what.from
    await Promise.resolve()
    const element = field()
    element?.focus()
    if (element) element.value = next.text
    element?.setSelectionRange(next.caret, next.caret)
    look()
    if (choice.insert === null) act(choice.id as Command)
  }
  /** True where the key was meant for what is offered. */
  function onKey(event: KeyboardEvent): boolean {
    const { length } = items.value
    if (length === 0 || event.isComposing || event.keyCode === 229 || event.altKey || event.ctrlKey) return false
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
      at.value = (at.value + (event.key === 'ArrowDown' ? 1 : length - 1)) % length
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) void choose(items.value[at.value])
    else if (event.key === 'Escape') dismissed.value = begun.value?.from ?? null
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  return { items, at, look, offerAgain, choose, onKey }
}
