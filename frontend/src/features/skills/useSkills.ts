import { onScopeDispose, ref, shallowRef } from 'vue'
import { call, callRaw } from '@/api/client'
import type { Skill, WholeSkill } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'
import { createInAskedOrder } from '@/shared/lib/inAskedOrder'

export type Doing = 'upload' | 'install' | 'delete'

/** The skills that the person's agents can read, and what is done about them: one thing at a time. */
export function useSkills() {
  const list = shallowRef<Skill[] | null>(null)
  const shown = shallowRef<WholeSkill | null>(null)
  const doing = ref<Doing | null>(null)
  const problem = ref('')
  /** What the problem is about: a name, or '' for the page. */
  const about = ref('')
  const problemText = useProblemText()
  const ending = new AbortController()
  onScopeDispose(() => ending.abort())

  async function attempt<T>(name: string, work: () => Promise<T>, file?: File): Promise<T | undefined> {
    problem.value = ''
    about.value = name
    try {
      return await work()
    } catch (error) {
      if (!ending.signal.aborted) problem.value = problemText(error, file)
      return undefined
    }
  }
  async function during<T>(what: Doing, name: string, work: () => Promise<T>, file?: File): Promise<T | undefined> {
    if (doing.value) return undefined
    doing.value = what
    try {
      return await attempt(name, work, file)
    } finally {
      doing.value = null
    }
  }
  const show = createInAskedOrder<Skill[]>((found) => (list.value = found))
  const fetched = (): Promise<void> => show(() => call<Skill[]>('GET', '/skills', { signal: ending.signal }))
  const load = (): Promise<void> => attempt('', fetched)

  /** The skill that is there now. */
  const upload = (file: File): Promise<Skill | undefined> =>
    during(
      'upload',
      '',
      async () => {
        const form = new FormData()
        form.append('archive', file, file.name)
        const made = (await (await callRaw('POST', '/skills', { form })).json()) as Skill
        await fetched()
        return made
      },
      file,
    )
  /** The skill that is there now, from a public address. */
  const install = (url: string): Promise<Skill | undefined> =>
    during('install', '', async () => {
      const made = await call<Skill>('POST', '/skills', { body: { url } })
      await fetched()
      return made
    })
  const remove = (name: string): Promise<true | undefined> =>
    during<true>('delete', name, async () => {
      await call('DELETE', `/skills/${name}`)
      if (shown.value?.name === name) shown.value = null
      await fetched()
      return true
    })
  let toggled = 0
  /** Opens one, or closes it. */
  const toggle = async (name: string): Promise<void> => {
    const mine = (toggled += 1)
    if (shown.value?.name === name) {
      shown.value = null
      return
    }
    const found = await attempt(name, () => call<WholeSkill>('GET', `/skills/${name}`, { signal: ending.signal }))
    if (found && mine === toggled) shown.value = found
  }
  return { list, shown, doing, problem, about, load, upload, install, remove, toggle }
}
