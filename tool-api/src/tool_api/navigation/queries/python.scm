(decorated_definition definition: (class_definition name: (identifier) @name)) @symbol.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @symbol.function
(class_definition name: (identifier) @name) @symbol.class
(function_definition name: (identifier) @name) @symbol.function
(type_alias_statement left: (type (identifier) @name)) @symbol.type
(assignment left: (identifier) @name) @symbol.variable
(lambda) @scope.function
(import_statement) @scope.import
(import_from_statement) @scope.import
(future_import_statement) @scope.import
