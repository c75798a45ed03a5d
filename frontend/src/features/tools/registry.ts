import { defineAsyncComponent, type Component } from 'vue'
import type { Shows } from './kinds'
import BrowserView from './views/BrowserView.vue'
import CodeView from './views/CodeView.vue'
import DesktopView from './views/DesktopView.vue'
import FileView from './views/FileView.vue'
import ImageView from './views/ImageView.vue'
import NavigationView from './views/NavigationView.vue'
import PlainView from './views/PlainView.vue'
import SearchView from './views/SearchView.vue'
import ShellView from './views/ShellView.vue'

/** What shows the calls of each kind. */
export const components: Readonly<Record<Shows, Component>> = {
  browser: BrowserView,
  code: CodeView,
  desktop: DesktopView,
  diff: defineAsyncComponent(() => import('./views/DiffView.vue')),
  file: FileView,
  findings: defineAsyncComponent(() => import('./views/FindingsView.vue')),
  image: ImageView,
  navigation: NavigationView,
  plain: PlainView,
  search: SearchView,
  shell: ShellView,
  task: defineAsyncComponent(() => import('./views/TaskView.vue')),
}
