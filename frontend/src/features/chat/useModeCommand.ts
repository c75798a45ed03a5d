import { ref, watch, type Ref } from 'vue'
import { usePresets } from '@/features/settings'
import { MODE, modeOf, namedMode, offeredModes, type Mode } from './modes'

/** A written command for modes is no message: it changes the mode, or stays written, with a word on which there are. */
export function useModeCommand(text: Ref<string>, act: (command: `mode:${Mode}`) => void) {
  const presets = usePresets()
  /** What was named and is no mode; '' where none was; null while nothing is wrong. */
  const refused = ref<string | null>(null)
  watch(text, () => (refused.value = null), { flush: 'sync' })

  /** Whether what is written is such a command. */
  function take(): boolean {
    const name = namedMode(text.value)
    if (name === null) return false
    const mode = modeOf(name)
    if (mode !== null && offeredModes(presets.list).includes(mode)) {
      text.value = ''
      act(`mode:${mode}`)
    } else {
      // So that the modes are offered to choose from.
      if (name === '') text.value = `${MODE} `
      refused.value = name
    }
    return true
  }
  return { refused, take }
}
