import { computed, ref, type ComputedRef } from 'vue'
import { useSessions } from '@/features/sessions'
import { isRemoteHost, takenBackFor, useModels, usePresets, type ChosenOptions } from '@/features/settings'
import { choiceOf, modeOf } from './modes'

/** Preset, model and options of a conversation, or of the one that is about to begin. */
export function useChosen(sessionId: () => string | null): {
  preset: ComputedRef<string | null>
  /** The one that was chosen, or that of the preset. */
  model: ComputedRef<string | null>
  options: ComputedRef<ChosenOptions>
  create: () => Promise<string>
  /** The computer that it works on, as it begins; null: the usual one. */
  target: ComputedRef<string | null>
  /** Approvals are on there unless the conversation chooses otherwise. */
  asksFirst: ComputedRef<boolean>
  pickTarget: (id: string | null) => void
  pickPreset: (id: string) => Promise<void>
  pickMode: (command: string) => Promise<void>
  pickModel: (id: string) => Promise<void>
  change: (options: ChosenOptions) => Promise<void>
} {
  const sessions = useSessions()
  const models = useModels()
  const presets = usePresets()
  const firstPreset = ref<string | null>(null)
  /** The one that was chosen last, in whichever conversation: the next one begins with it. */
  const firstModel = ref<string | null>(null)
  const firstTarget = ref<string | null>(null)
  const firstOptions = ref<ChosenOptions>({})
  const session = computed(() => sessions.byId.get(sessionId() ?? ''))
  const preset = computed(() => (sessionId() ? (session.value?.preset ?? null) : firstPreset.value))
  const target = computed(() => (sessionId() ? (session.value?.target_id ?? null) : firstTarget.value))
  const ownModel = computed(() => (sessionId() ? (session.value?.model ?? null) : firstModel.value))
  const model = computed(() => ownModel.value ?? presets.find(preset.value)?.model ?? null)
  const options = computed<ChosenOptions>(() => session.value?.options ?? firstOptions.value)

  async function create(): Promise<string> {
    const created = await sessions.create(firstModel.value, firstOptions.value, firstPreset.value, firstTarget.value)
    firstTarget.value = null
    firstOptions.value = {}
    firstPreset.value = null
    return created.id
  }
  async function pickPreset(id: string, more: ChosenOptions = {}): Promise<void> {
    const model = models.find(ownModel.value ?? presets.find(id)?.model)
    const taken = { ...takenBackFor(model, options.value), ...more }
    const open = sessionId()
    if (open) return await sessions.change(open, { preset: id, options: taken })
    firstPreset.value = id
    firstOptions.value = { ...firstOptions.value, ...taken }
  }
  async function pickMode(command: string): Promise<void> {
    const mode = modeOf(command)
    if (mode === null) return
    const { preset: id, options: chosen } = choiceOf(mode)
    await (id === null ? change(chosen) : pickPreset(id, chosen))
  }
  async function pickModel(id: string): Promise<void> {
    const taken = takenBackFor(models.find(id), options.value)
    firstModel.value = id
    const open = sessionId()
    if (open) await sessions.change(open, { model: id, options: taken })
    else firstOptions.value = { ...firstOptions.value, ...taken }
  }
  async function change(changed: ChosenOptions): Promise<void> {
    const open = sessionId()
    if (open) await sessions.change(open, { options: changed })
    else firstOptions.value = { ...firstOptions.value, ...changed }
  }
  const asksFirst = computed(() => isRemoteHost(target.value))
  const pickTarget = (id: string | null): void => void (firstTarget.value = id)
  return { preset, model, options, create, target, asksFirst, pickTarget, pickPreset, pickMode, pickModel, change }
}
