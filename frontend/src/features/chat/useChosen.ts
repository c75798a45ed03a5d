import { computed, ref, shallowRef, watch, type ComputedRef } from 'vue'
import { useAuth } from '@/features/auth'
import { useFolders, useSessions } from '@/features/sessions'
import {
  defaultsOf,
  isRemoteHost,
  layered,
  presetOptions,
  switched,
  takenBackFor,
  useModels,
  usePresets,
  useTargets,
  useUserSettings,
  type ChosenOptions,
} from '@/features/settings'
import { keepChoices, NO_CHOICES, recallChoices, type FirstChoices } from './firstChoices'
import { choiceOf, isNamedApart, modeOf, modeOn, type Mode } from './modes'

export { useFirstFolder } from './useFirstFolder'

/** Preset, model and options of a conversation, or of the one that is about to begin. */
export function useChosen(
  sessionId: () => string | null,
  /** Where the conversation that is about to begin will stand. */
  folder: () => string | null = () => null,
): {
  preset: ComputedRef<string | null>
  /** The one that was chosen, or that of the preset. */
  model: ComputedRef<string | null>
  options: ComputedRef<ChosenOptions>
  /** How the agent works, where that is not as usual. */
  mode: ComputedRef<Mode | null>
  /** The same, where the preset does not say it. */
  chip: ComputedRef<Mode | null>
  create: () => Promise<string>
  /** The computer that it works on, as it begins; null: the usual one. */
  target: ComputedRef<string | null>
  /** Approvals are on there unless the conversation chooses otherwise. */
  asksFirst: ComputedRef<boolean>
  pickTarget: (id: string | null) => void
  pickPreset: (id: string) => Promise<void>
  pickMode: (command: string) => Promise<void>
  leaveMode: () => Promise<void>
  pickModel: (id: string) => Promise<void>
  change: (options: ChosenOptions) => Promise<void>
} {
  const auth = useAuth()
  const sessions = useSessions()
  const folders = useFolders()
  const models = useModels()
  const presets = usePresets()
  const targets = useTargets()
  const settings = useUserSettings()
  const first = shallowRef(NO_CHOICES)
  /** The one that was chosen last, in whichever conversation: the next one begins with it. */
  const lastModel = ref<string | null>(null)
  const writer = (): string | null => auth.user?.id ?? null
  watch(writer, (who) => (first.value = recallChoices(who)), { immediate: true })
  const session = computed(() => sessions.byId.get(sessionId() ?? ''))
  const preset = computed(() => (sessionId() ? (session.value?.preset ?? null) : first.value.preset))
  const target = computed(() => (sessionId() ? (session.value?.target_id ?? null) : first.value.target))
  const ownModel = computed(() =>
    sessionId() ? (session.value?.model ?? null) : (first.value.model ?? lastModel.value),
  )
  const model = computed(() => ownModel.value ?? presets.find(preset.value)?.model ?? null)
  const options = computed<ChosenOptions>(() => session.value?.options ?? first.value.options)
  /** Whether a conversation with that preset plans first, unless it chooses otherwise. */
  const plansBelow = (id: string | null): boolean =>
    defaultsOf(settings.options, presetOptions(presets.find(id))).enable_plan_mode === true
  const plans = computed(
    () => layered({ enable_plan_mode: plansBelow(preset.value) }, options.value).enable_plan_mode === true,
  )
  const mode = computed(() => modeOn(plans.value, preset.value, presets.standard?.id ?? null))
  const chip = computed(() => (isNamedApart(mode.value) ? mode.value : null))

  function keepFirst(chosen: Partial<FirstChoices>): void {
    first.value = { ...first.value, ...chosen }
    keepChoices(writer(), first.value)
  }
  async function create(): Promise<string> {
    // What was chosen before a reload may be gone by now: it is shown as not chosen, and so it begins.
    const kept = <T extends string | null>(id: T, isThere: boolean): T | null => (isThere ? id : null)
    const { preset: wanted, target: place } = first.value
    const created = await sessions.create(
      kept(ownModel.value, models.list.length === 0 || models.find(ownModel.value) !== null),
      first.value.options,
      kept(wanted, presets.list.length === 0 || presets.list.some(({ id }) => id === wanted)),
      kept(place, !targets.isKnown || targets.usable.some(({ id }) => id === place)),
    )
    const among = folder()
    if (among !== null) await folders.begin(created.id, among)
    lastModel.value = first.value.model ?? lastModel.value
    keepFirst(NO_CHOICES)
    return created.id
  }
  async function pickPreset(id: string, more: ChosenOptions = {}): Promise<void> {
    const model = models.find(ownModel.value ?? presets.find(id)?.model)
    const taken = { ...takenBackFor(model, options.value), ...more }
    const open = sessionId()
    if (open) await sessions.change(open, { preset: id, options: taken })
    else keepFirst({ preset: id, options: { ...first.value.options, ...taken } })
  }
  async function pickMode(command: string): Promise<void> {
    const picked = modeOf(command)
    if (picked === null) return
    const { preset: id, options: chosen } = choiceOf(picked)
    if (id === null) await change(chosen)
    else await pickPreset(id, { enable_plan_mode: switched(false, plansBelow(id)) })
  }
  async function leaveMode(): Promise<void> {
    const { standard } = presets
    if (plans.value) await change({ enable_plan_mode: switched(false, plansBelow(preset.value)) })
    else if (standard) await pickPreset(standard.id)
  }
  async function pickModel(id: string): Promise<void> {
    const taken = takenBackFor(models.find(id), options.value)
    const open = sessionId()
    if (open) {
      lastModel.value = id
      keepFirst({ model: null })
      await sessions.change(open, { model: id, options: taken })
    } else keepFirst({ model: id, options: { ...first.value.options, ...taken } })
  }
  async function change(changed: ChosenOptions): Promise<void> {
    const open = sessionId()
    if (open) await sessions.change(open, { options: changed })
    else keepFirst({ options: { ...first.value.options, ...changed } })
  }
  const asksFirst = computed(() => isRemoteHost(target.value))
  const pickTarget = (id: string | null): void => keepFirst({ target: id })
  return {
    ...{ preset, model, options, mode, chip, create, target, asksFirst },
    ...{ pickTarget, pickPreset, pickMode, leaveMode, pickModel, change },
  }
}
