(class_specifier name: [(type_identifier) (template_type)] @name body: (_)) @symbol.class
(namespace_definition name: (_) @name) @symbol.namespace
(alias_declaration name: (type_identifier) @name) @symbol.type
(concept_definition name: (identifier) @name) @symbol.type
(field_declaration declarator: (function_declarator) @declarator) @symbol.method
(lambda_expression) @scope.function
(using_declaration) @scope.import
