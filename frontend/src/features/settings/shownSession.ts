import { useRoute } from 'vue-router'

/** The conversation that is shown behind the settings, null for none. */
export function useShownSession(): () => string | null {
  const route = useRoute()
  return () => {
    const id = route?.params['id']
    return typeof id === 'string' ? id : null
  }
}
