(class name: (_) @name) @symbol.class
(module name: (_) @name) @symbol.module
(method name: (_) @name) @symbol.method
(singleton_method name: (_) @name) @symbol.method
(assignment left: (constant) @name) @symbol.constant
