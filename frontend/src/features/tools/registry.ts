import { defineAsyncComponent, type Component } from 'vue'
import type { Shows } from './kinds'
import BrowserView from './views/BrowserView.vue'
import FileView from './views/FileView.vue'
import ImageView from './views/ImageView.vue'
import PlainView from './views/PlainView.vue'
import SearchView from './views/SearchView.vue'
import ShellView from './views/ShellView.vue'

/** What shows the calls of each kind. */
export const components: Readonly<Record<Shows, Component>> = {
  browser: BrowserView,
  code: defineAsyncComponent(() => import('./views/CodeView.vue')),
  desktop: defineAsyncComponent(() => import('./views/DesktopView.vue')),
  diff: defineAsyncComponent(() => import('./views/DiffView.vue')),
  file: FileView,
  findings: defineAsyncComponent(() => import('./views/FindingsView.vue')),
  image: ImageView,
  navigation: defineAsyncComponent(() => import('./views/NavigationView.vue')),
  plain: PlainView,
  search: SearchView,
  shell: ShellView,
  task: defineAsyncComponent(() => import('./views/TaskView.vue')),
}
