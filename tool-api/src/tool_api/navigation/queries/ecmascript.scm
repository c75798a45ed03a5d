(function_declaration name: (identifier) @name) @symbol.function
(generator_function_declaration name: (identifier) @name) @symbol.function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @symbol.method
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(variable_declarator name: (identifier) @name) @symbol.variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)]) @symbol.function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @symbol.method
(arrow_function) @scope.function
(function_expression) @scope.function
(import_statement) @scope.import
