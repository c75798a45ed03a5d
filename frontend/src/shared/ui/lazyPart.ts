import { defineAsyncComponent, h, type Component, type FunctionalComponent } from 'vue'
import { laterTexts } from '@/shared/lib/laterTexts'
import PartFailed from './PartFailed.vue'

const TRIES = 3
type Loader<Part extends Component> = () => Promise<{ default: Part }>

/**
 * A component whose code comes when it is first shown, and not with the first paint. A load that fails is tried again;
 * in the end a line stands in its place that says so, and showing the component once more begins anew.
 */
export function lazyPart<Part extends Component>(load: Loader<Part>, meanwhile?: Component): Part {
  return defineAsyncComponent({
    loader: async () => (await Promise.all([load(), laterTexts()]))[0].default,
    loadingComponent: meanwhile,
    errorComponent: PartFailed,
    delay: 0,
    suspensible: false,
    onError: (_, retry, fail, attempts) => {
      if (attempts >= TRIES) fail()
      else setTimeout(retry, 400 * attempts)
    },
  }) as unknown as Part
}

/** A page of the router whose code comes as that of a `lazyPart`: the address changes at once, and a load that fails says so. */
export function lazyPage(load: Loader<Component>): FunctionalComponent {
  const Part = lazyPart(load)
  const page: FunctionalComponent = (_, { attrs }) => h(Part, attrs)
  // The router takes a function without a name for one that loads a page.
  page.displayName = 'LazyPage'
  return page
}
