(function_definition name: (word) @name) @symbol.function
(variable_assignment name: (variable_name) @name) @symbol.variable
